#pragma once

#include "emulate/execution.hpp"

// bar.red: what threads say as they arrive at a barrier, and what they hear when it completes.
// PTX ISA 9.0, section 9.7.13.1.
namespace fatune::emulate {

enum class BarrierVote : std::uint8_t { none, count, all, any };

/// The details of a barrier instruction. Its operands are the barrier, the number of
/// threads if there is one, and for a vote the predicate and the result.
struct BarrierShape {
  bool counted = false;
  BarrierVote vote = BarrierVote::none;
};

/// Lanes arrive: their predicates count.
void cast_votes(const Warp& warp, const Instruction& instruction, Mask mask, Barrier& barrier);
/// The barrier has completed: these lanes get its result.
void give_result(Execution& x, Warp& warp, const Instruction& instruction, Mask mask,
                 const Barrier& barrier);

}  // namespace fatune::emulate
