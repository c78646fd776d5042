#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fatune {

/// Whether an instruction writes or reads the registers of one of its operands.
struct OperandEffect {
  bool writes = false;
  bool reads = true;
};

/// Returns the effect of each operand. The first operand is the result, unless it is an address.
/// The few opcodes with other rules are handled too.
/// Source: PTX ISA 9.0, chapter 9.
[[nodiscard]] std::vector<OperandEffect> operand_effects(std::string_view opcode,
                                                         const std::vector<std::string>& operands);

}  // namespace fatune
