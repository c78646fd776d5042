#include "emulate/schedule/barrier_votes.hpp"

#include <bit>

namespace fatune::emulate {

void cast_votes(const Warp& warp, const Instruction& instruction, Mask mask, Barrier& barrier) {
  const auto shape = instruction.details_as<BarrierShape>();
  if (shape.vote == BarrierVote::none) {
    return;
  }
  const Operand& asked = instruction.operands[shape.counted ? 2 : 1];
  const Mask yes = condition_of(warp, asked);
  barrier.yes += static_cast<std::uint32_t>(std::popcount(yes & mask));
}

void give_result(Execution& x, Warp& warp, const Instruction& instruction, Mask mask,
                 const Barrier& barrier) {
  const auto shape = instruction.details_as<BarrierShape>();
  const auto set = [&](bool result) {
    Mask& bits = warp.predicates[instruction.operands[shape.counted ? 3 : 2].offset];
    bits = result ? bits | mask : bits & ~mask;
  };
  switch (shape.vote) {
    case BarrierVote::none:
      return;
    case BarrierVote::all:
      return set(barrier.yes == barrier.arrived);
    case BarrierVote::any:
      return set(barrier.yes != 0);
    case BarrierVote::count:
      break;
  }
  auto* const to = x.lanes<std::uint32_t>(warp, instruction.operands[shape.counted ? 3 : 2]);
  for_each_lane(mask, [&](int lane) { to[lane] = barrier.yes; });
}

}  // namespace fatune::emulate
