#include "emulator/async/copies.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "emulator/memory/memory_access.hpp"

namespace fatune::emulate {
namespace {

template <typename Pending>
Actor actor_of(Execution& x, Warp& warp, const Pending& pending) {
  return {x, warp, x.program.instructions[pending.instruction], pending.lane};
}

/// Lands the copy if it has not, for agents that know `as`.
void finish(Execution& x, Warp& warp, AsyncCopy& copy, Epoch as) {
  if (!copy.landed) {
    land(x, warp, copy);
  }
  if (x.setup.checks.race) {
    x.block_of(warp).shared.note_landing(as, copy.destination, copy.bytes);
  }
}

/// Marks the copy as done for threads that wait for the mbarrier.
void track(Execution& x, Warp& warp, AsyncCopy& copy, Epoch as) {
  finish(x, warp, copy, as);
  const auto known = std::ranges::find_if(warp.tracked, [&](const TrackedCopies& other) {
    return other.lane == copy.lane && other.as.agent() == as.agent();
  });
  TrackedCopies& tracked =
      known != warp.tracked.end() ? *known : warp.tracked.emplace_back(TrackedCopies{});
  tracked = {as, copy.group, copy.lane};
}

/// True if any of these lanes' copies is done. A lane's groups are in order, so checking its first
/// copy suffices.
template <typename Done>
bool any_done(const std::vector<AsyncCopy>& copies, Mask lanes, const Done& done) {
  for (auto copy = copies.begin(); copy != copies.end() && lanes != 0; ++copy) {
    if (done(*copy)) {
      return true;
    }
    lanes &= ~lane_bit(copy->lane);
  }
  return false;
}

void end_copies(Execution& x, Warp& warp, Mask lanes, std::uint32_t pending) {
  const auto done = [&](const AsyncCopy& copy) {
    return has_lane(lanes, copy.lane) && copy.group + pending < warp.committed[copy.lane];
  };
  if (!any_done(warp.copies, lanes, done)) {
    return;
  }
  for (AsyncCopy& copy : warp.copies) {
    if (done(copy)) {
      finish(x, warp, copy, actor_of(x, warp, copy).accessor().epoch());
    }
  }
  std::erase_if(warp.copies, done);
}

}  // namespace

bool lands_at_issue(Execution& x) {
  const Timing timing = x.setup.schedule.timing;
  return timing == Timing::random ? x.random() % 2 == 0 : timing == Timing::early;
}

void land(Execution& x, Warp& warp, AsyncCopy& copy) {
  copy.landed = true;
  std::uint8_t* const to = x.block_of(warp).shared.data(copy.destination);
  std::fill_n(to, copy.bytes, std::uint8_t{0});
  if (copy.source_bytes == 0) {
    return;
  }
  const Access access{Space::global, copy.source, copy.source_bytes, copy.bytes};
  if (const std::uint8_t* from = check_global(actor_of(x, warp, copy), access, true)) {
    std::memcpy(to, from, copy.source_bytes);
  }
}

void land_some(Execution& x, Warp& warp) {
  constexpr std::uint64_t kOneIn = 4;
  for (AsyncCopy& copy : warp.copies) {
    if (!copy.landed && x.random() % kOneIn == 0) {
      land(x, warp, copy);
    }
  }
  for (std::size_t i = warp.arrivals.size(); i-- > 0;) {
    if (x.random() % kOneIn == 0) {
      arrive_for(x, warp, i);
    }
  }
}

void arrive_for(Execution& x, Warp& warp, std::size_t index) {
  const AsyncArrival arrival = warp.arrivals[index];
  warp.arrivals.erase(warp.arrivals.begin() + static_cast<std::ptrdiff_t>(index));
  Block& block = x.block_of(warp);
  Mbarrier* const mbarrier = block.mbarriers.find(arrival.mbarrier);
  const Actor by = actor_of(x, warp, arrival);
  if (mbarrier == nullptr) {
    report_misuse(by, "the mbarrier of this arrival no longer exists");
    return;
  }
  const auto covered = [&](const AsyncCopy& copy) {
    return copy.lane == arrival.lane && copy.order < arrival.order;
  };
  for (AsyncCopy& copy : warp.copies) {
    if (covered(copy)) {
      track(x, warp, copy, mbarrier->epoch());
    }
  }
  std::erase_if(warp.copies, covered);
  x.note_progress();
  report_misuse(by, mbarrier->arrive(1, nullptr));
}

bool arrive_next(Execution& x) {
  for (Warp& warp : x.warps) {
    if (!warp.arrivals.empty()) {
      arrive_for(x, warp, 0);
      return true;
    }
  }
  return false;
}

void await_copies(Execution& x, Warp& warp, Mask lanes, std::uint32_t pending) {
  end_copies(x, warp, lanes, pending);
  std::erase_if(warp.tracked, [&](const TrackedCopies& copies) {
    const bool waited =
        has_lane(lanes, copies.lane) && copies.group + pending < warp.committed[copies.lane];
    if (waited) {
      warp.clock.seen.raise(copies.as);
    }
    return waited;
  });
}

void report_pending(Execution& x, Warp& warp) {
  for (const AsyncCopy& copy : warp.copies) {
    if (!has_lane(warp.alive, copy.lane)) {
      actor_of(x, warp, copy).report(FindingKind::pending_at_exit, [&] {
        return fmt::format("the thread ends without waiting for its copy to shared memory + {}",
                           copy.destination);
      });
    }
  }
}

}  // namespace fatune::emulate
