#include "ptx/effects.hpp"

#include <algorithm>
#include <array>

namespace fatune {
namespace {

/// True for instructions whose operands are all inputs.
bool has_no_result(std::string_view opcode) {
  constexpr std::array<std::string_view, 9> kOpcodes{
      "bar.sync",     "bar.arrive", "bar.warp.sync", "barrier.sync", "barrier.arrive",
      "barrier.cta.", "brx.",       "nanosleep.",    "setmaxnreg."};
  return opcode.find(".red.") == std::string_view::npos &&
         std::ranges::any_of(kOpcodes,
                             [&](std::string_view begin) { return opcode.starts_with(begin); });
}

/// True if the first operand is an accumulator: added to, not set.
bool adds_to_result(std::string_view opcode) { return opcode.starts_with("wgmma.mma_async"); }

}  // namespace

std::vector<OperandEffect> operand_effects(std::string_view opcode,
                                           const std::vector<std::string>& operands) {
  std::vector<OperandEffect> effects(operands.size());
  if (!operands.empty() && !operands.front().starts_with('[') && !has_no_result(opcode)) {
    effects.front() = {true, adds_to_result(opcode)};
  }
  return effects;
}

}  // namespace fatune
