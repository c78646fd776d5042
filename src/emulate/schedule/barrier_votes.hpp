#pragma once

#include "emulate/execution.hpp"

// bar.red: what threads say as they arrive at a barrier, and what they hear when it completes.
// PTX ISA 9.0, section 9.7.13.1.
namespace fatune::emulate {

enum class BarrierVote : std::uint8_t { none, count, all, any };

/// The meaning of `Instruction::variant` for a barrier. Its operands are the barrier, the number of
/// threads if there is one, and for a vote the predicate and the result.
struct BarrierShape {
  bool counted = false;
  BarrierVote vote = BarrierVote::none;

  [[nodiscard]] std::uint32_t packed() const {
    return (counted ? 1U : 0U) | static_cast<std::uint32_t>(vote) << 1U;
  }
  static BarrierShape of(const Instruction& instruction) {
    const std::uint32_t bits = instruction.variant;
    return {(bits & 1U) != 0, static_cast<BarrierVote>(bits >> 1U & 3U)};
  }
};

/// Lanes arrive: their predicates count.
void cast_votes(const Warp& warp, const Instruction& instruction, Mask mask, Barrier& barrier);
/// The barrier has completed: these lanes get its result.
void give_result(Execution& x, Warp& warp, const Instruction& instruction, Mask mask,
                 const Barrier& barrier);

}  // namespace fatune::emulate
