#pragma once

#include "emulate/execution.hpp"

// bar.red: the predicates that threads bring to a barrier, and the result that they get when it
// completes. PTX ISA 9.0, section 9.7.13.1.
namespace fatune::emulate {

enum class BarrierVote : std::uint8_t { none, count, all, any };

/// The details of a barrier instruction. Its operands are the barrier, the number of threads if
/// given, and for a vote the predicate and the result.
struct BarrierShape {
  bool counted = false;
  BarrierVote vote = BarrierVote::none;
};

/// Counts the predicates of arriving lanes.
void cast_votes(const Warp& warp, const Instruction& instruction, Mask mask, Barrier& barrier);
/// Gives these lanes the result of a barrier that has completed.
void give_result(Execution& x, Warp& warp, const Instruction& instruction, Mask mask,
                 const Barrier& barrier);

}  // namespace fatune::emulate
