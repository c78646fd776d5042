#include "emulate/async_copies.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "emulate/memory_access.hpp"

namespace fatune::emulate {

bool lands_at_issue(Execution& x) {
  switch (x.setup.schedule.timing) {
    case Timing::early:
      return true;
    case Timing::late:
      return false;
    case Timing::random:
      break;
  }
  return x.random() % 2 == 0;
}

void land(Execution& x, Warp& warp, AsyncCopy& copy) {
  copy.landed = true;
  std::uint8_t* const to = x.block_of(warp).shared.data(copy.destination);
  std::fill_n(to, copy.bytes, std::uint8_t{0});
  if (copy.source_bytes == 0) {
    return;
  }
  const Instruction& instruction = x.program.instructions[copy.instruction];
  const Access access{Space::global, copy.source, copy.source_bytes, copy.bytes};
  if (const std::uint8_t* from = check_global(x, warp, instruction, copy.lane, access, true)) {
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
}

void await_copies(Execution& x, Warp& warp, Mask lanes, std::uint32_t pending) {
  const auto done = [&](const AsyncCopy& copy) {
    return has_lane(lanes, copy.lane) && copy.group + pending < warp.committed[copy.lane];
  };
  for (AsyncCopy& copy : warp.copies) {
    if (!done(copy)) {
      continue;
    }
    if (!copy.landed) {
      land(x, warp, copy);
    }
    if (x.setup.checks.race) {
      x.block_of(warp).shared.note_landing(x.accessor(warp, copy.lane).epoch(), copy.destination,
                                           copy.bytes);
    }
  }
  std::erase_if(warp.copies, done);
}

void report_pending(Execution& x, const Warp& warp) {
  for (const AsyncCopy& copy : warp.copies) {
    if (!has_lane(warp.alive, copy.lane)) {
      x.report(FindingKind::pending_at_exit, warp, x.program.instructions[copy.instruction],
               copy.lane, [&] {
                 return fmt::format(
                     "the thread ends, and has not waited for its copy to shared "
                     "memory + {}",
                     copy.destination);
               });
    }
  }
}

}  // namespace fatune::emulate
