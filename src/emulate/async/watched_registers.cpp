#include "emulate/async/watched_registers.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "core/ranges.hpp"

namespace fatune::emulate {
namespace {

constexpr std::uint8_t kSum = 1;    ///< a product may still write it
constexpr std::uint8_t kInput = 2;  ///< a product may still read it
constexpr std::uint8_t kDirty = 4;  ///< written since the last wgmma.fence

const std::string& name_of(const Execution& x, std::uint16_t number) {
  return x.program.watched_names[number];
}

void too_early(Execution& x, const Warp& warp, const Instruction& instruction, const char* doing,
               std::uint16_t number, const char* how) {
  x.report(FindingKind::pending_registers, warp, instruction, 0, [&] {
    return fmt::format("{} {}, which a wgmma that no thread has waited for may still {}", doing,
                       name_of(x, number), how);
  });
}

/// True for a mov of zeros. Compilers zero fresh sums after the fence, where the machine code has a
/// product without sums instead. Seen with NVRTC 13.0.
bool clears(const Execution& x, const Warp& warp, const Instruction& instruction,
            const WatchedUses& uses) {
  if (!uses.copies) {
    return false;
  }
  const auto* const from = x.lanes<std::uint32_t>(warp, instruction.operands[1]);
  return std::all_of(from, from + kLanes, [](std::uint32_t bits) { return bits == 0; });
}

void check_product(Execution& x, Warp& warp, const Instruction& instruction,
                   const WatchedUses& uses) {
  for (const std::uint16_t number : uses.reads) {
    const bool is_sum = is_among(number, uses.writes);
    if ((warp.watched[number] & kSum) != 0 && !is_sum) {
      too_early(x, warp, instruction, "multiplies", number, "write");
    }
    if ((warp.watched[number] & kDirty) != 0) {
      x.report(FindingKind::missing_wgmma_fence, warp, instruction, 0, [&] {
        return fmt::format("uses {}, which was written with no wgmma.fence since",
                           name_of(x, number));
      });
      warp.watched[number] &= static_cast<std::uint8_t>(~kDirty);  // one mistake gives one finding
    }
  }
}

}  // namespace

void check_watched(Execution& x, Warp& warp, const Instruction& instruction) {
  const WatchedUses& uses = x.program.watched_uses[static_cast<std::size_t>(instruction.watched)];
  if (uses.by_product) {
    check_product(x, warp, instruction, uses);
    return;
  }
  for (const std::uint16_t number : uses.reads) {
    if ((warp.watched[number] & kSum) != 0) {
      too_early(x, warp, instruction, "reads", number, "write");
    }
  }
  for (const std::uint16_t number : uses.writes) {
    if ((warp.watched[number] & (kSum | kInput)) != 0) {
      too_early(x, warp, instruction, "writes", number,
                (warp.watched[number] & kSum) != 0 ? "write" : "read");
    }
    if (!clears(x, warp, instruction, uses)) {
      warp.watched[number] |= kDirty;
    }
  }
}

void watch_issued(const Execution& x, Warp& warp, const AsyncProduct& product) {
  const Instruction& instruction = x.program.instructions[product.instruction];
  if (instruction.watched < 0) {
    return;
  }
  const WatchedUses& uses = x.program.watched_uses[static_cast<std::size_t>(instruction.watched)];
  for (const std::uint16_t number : uses.reads) {
    warp.watched[number] |= kInput;
  }
  for (const std::uint16_t number : uses.writes) {
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
