#include "emulator/async/warpgroup_checks.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/ranges.hpp"
#include "emulator/execution.hpp"

namespace fatune::emulate {
namespace {

std::size_t group_of(const Warp& warp) { return static_cast<std::size_t>(warp.index) / kWarpgroup; }
std::size_t place_of(const Warp& warp) { return static_cast<std::size_t>(warp.index) % kWarpgroup; }

WarpgroupTrace& trace_of(Execution& x, const Warp& warp) {
  auto& groups = x.block_of(warp).warpgroups;
  if (group_of(warp) >= groups.size()) {
    groups.resize(group_of(warp) + 1);
  }
  return groups[group_of(warp)];
}

/// False for the last warpgroup of a block whose warps are not a multiple of four.
bool is_whole(Execution& x, const Warp& warp) {
  return (group_of(warp) + 1) * kWarpgroup <= x.warps_of(x.block_of(warp)).size();
}

constexpr std::uint8_t kSum = 1;    ///< a product may still write it
constexpr std::uint8_t kInput = 2;  ///< a product may still read it
constexpr std::uint8_t kDirty = 4;  ///< written since the last wgmma.fence

const WatchedUses& uses_of(const Execution& x, const Instruction& instruction) {
  return x.program.watched_uses[static_cast<std::size_t>(instruction.watched)];
}

void too_early(const Executing& at, const char* doing, std::uint16_t number, const char* how) {
  at.report(FindingKind::pending_registers, 0, [&] {
    return fmt::format("{} {}, which a wgmma that no thread has waited for may still {}", doing,
                       at.x.program.watched_names[number], how);
  });
}

/// True for a mov of zeros. Compilers zero fresh sums after the fence, where the machine code has a
/// product without sums instead. Seen with NVRTC 13.0.
bool clears(const Executing& at, const WatchedUses& uses) {
  return uses.copies && std::all_of(at.words(1), at.words(1) + kLanes,
                                    [](std::uint32_t bits) { return bits == 0; });
}

void check_product(const Executing& at, const WatchedUses& uses) {
  for (const std::uint16_t number : uses.reads) {
    std::uint8_t& state = at.warp.watched[number];
    if ((state & kSum) != 0 && !is_among(number, uses.writes)) {
      too_early(at, "multiplies", number, "write");
    }
    if ((state & kDirty) != 0) {
      at.report(FindingKind::missing_wgmma_fence, 0, [&] {
        return fmt::format("uses {}, which was written with no wgmma.fence since",
                           at.x.program.watched_names[number]);
      });
      state &= static_cast<std::uint8_t>(~kDirty);  // one mistake gives one finding
    }
  }
}

}  // namespace

IssuedProduct WarpgroupTrace::issue(std::size_t warp, const IssuedProduct& product) {
  const std::uint64_t number = issued_[warp]++;
  if (number == first_ + products_.size()) {
    products_.push_back(product);
  }
  const IssuedProduct expected = products_[number - first_];
  for (; first_ < *std::ranges::min_element(issued_); ++first_) {
    products_.pop_front();
  }
  return expected;
}

bool WarpgroupTrace::left_alone(std::size_t warp) const {
  for (std::size_t other = 0; other < kWarpgroup; ++other) {
    if (ended_[other] && issued_[other] < issued_[warp]) {
      return true;
    }
  }
  return false;
}

const IssuedProduct* WarpgroupTrace::next(std::size_t warp) const {
  const std::uint64_t number = issued_[warp];
  return number < first_ + products_.size() ? &products_[number - first_] : nullptr;
}

void trace_product(const Executing& at, const AsyncProduct& product) {
  const auto report = [&](auto text) { at.report(FindingKind::divergent_product, 0, text); };
  if (!is_whole(at.x, at.warp)) {
    return report([&] {
      return fmt::format("the block's {} warps leave this warpgroup with fewer than four",
                         at.x.warps_of(at.block()).size());
    });
  }
  WarpgroupTrace& trace = trace_of(at.x, at.warp);
  const IssuedProduct& own = product;
  const IssuedProduct expected = trace.issue(place_of(at.warp), own);
  if (trace.left_alone(place_of(at.warp))) {
    report([] {
      return std::string("a warp of the warpgroup has ended, and takes no part in this product");
    });
  } else if (expected != own) {
    report([&] {
      return fmt::format(
          "in its place, another warp of the warpgroup has {}",
          expected.instruction != own.instruction
              ? fmt::format("the instruction at PTX line {}",
                            at.x.program.lines[expected.instruction])
          : expected.accumulates != own.accumulates
              ? std::string("a different scale-d")
              : fmt::format("descriptors {:#x} and {:#x}, this one has {:#x} and {:#x}", expected.a,
                            expected.b, own.a, own.b));
    });
  }
}

void trace_end(Execution& x, Warp& warp) {
  const bool multiplies = !x.program.watched_names.empty();
  if (!multiplies || warp.alive != 0) {
    return;
  }
  WarpgroupTrace& trace = trace_of(x, warp);
  trace.end(place_of(warp));
  if (const auto* left = trace.next(place_of(warp))) {
    const Executing at{x, warp, x.program.instructions[left->instruction]};
    at.report(FindingKind::divergent_product, 0, [&] {
      return fmt::format("warp {} ends, and takes no part in this product of its warpgroup",
                         warp.index);
    });
  }
}

void check_watched(const Executing& at) {
  const WatchedUses& uses = uses_of(at.x, at.instruction);
  if (uses.by_product) {
    return check_product(at, uses);
  }
  for (const std::uint16_t number : uses.reads) {
    if ((at.warp.watched[number] & kSum) != 0) {
      too_early(at, "reads", number, "write");
    }
  }
  for (const std::uint16_t number : uses.writes) {
    std::uint8_t& state = at.warp.watched[number];
    if ((state & (kSum | kInput)) != 0) {
      too_early(at, "writes", number, (state & kSum) != 0 ? "write" : "read");
    }
    if (!clears(at, uses)) {
      state |= kDirty;
    }
  }
}

void watch_issued(const Execution& x, Warp& warp, const AsyncProduct& product) {
  const Instruction& instruction = x.program.instructions[product.instruction];
  if (instruction.watched < 0) {
    return;
  }
  for (const std::uint16_t number : uses_of(x, instruction).reads) {
    warp.watched[number] |= kInput;
  }
  for (const std::uint16_t number : uses_of(x, instruction).writes) {
    warp.watched[number] |= kSum;
  }
}

void watch_pending(const Execution& x, Warp& warp) {
  for (std::uint8_t& state : warp.watched) {
    state &= kDirty;
  }
  for (const AsyncProduct& product : warp.products) {
    watch_issued(x, warp, product);
  }
}

void fence_watched(Warp& warp) {
  for (std::uint8_t& state : warp.watched) {
    state &= static_cast<std::uint8_t>(~kDirty);
  }
}

}  // namespace fatune::emulate
