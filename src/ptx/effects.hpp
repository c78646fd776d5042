#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fatune {

/// Which of an instruction's operands' registers it sets, and which it needs.
struct OperandEffect {
  bool writes = false;
  bool reads = true;
};

/// One for each operand. The rule: the first operand is the result, unless it is an address; the
/// few opcodes for which it is not so are known.
/// Source: PTX ISA 9.0, chapter 9.
[[nodiscard]] std::vector<OperandEffect> operand_effects(std::string_view opcode,
                                                         const std::vector<std::string>& operands);

}  // namespace fatune
