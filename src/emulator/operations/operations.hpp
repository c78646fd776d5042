#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "emulator/decode/decoder.hpp"
#include "emulator/execution.hpp"

namespace fatune::emulate {

/// The first parts of all opcodes that have an operation, sorted. docs/emulate.md lists them.
[[nodiscard]] std::vector<std::string_view> covered_opcodes();

/// Operations by the first part of the opcode.
using Operations = std::map<std::string_view, Operation>;

// The operations of each file. A name may have operations on integers, on .f32 and .f64, and on
// 16-bit floats. The instruction's last type chooses between them.
[[nodiscard]] Operations integer_operations();
[[nodiscard]] Operations float_operations();
[[nodiscard]] Operations half_operations();

[[nodiscard]] Operations atomic_operations();
[[nodiscard]] Operations bit_operations();
[[nodiscard]] Operations call_operations();
[[nodiscard]] Operations collective_operations();
[[nodiscard]] Operations comparison_operations();
[[nodiscard]] Operations conversion_operations();
[[nodiscard]] Operations copy_operations();
[[nodiscard]] Operations matrix_operations();
[[nodiscard]] Operations mbarrier_operations();
[[nodiscard]] Operations memory_operations();
[[nodiscard]] Operations move_operations();
[[nodiscard]] Operations sync_operations();

/// Makes a floating-point instruction round as .rn, .rz, .rm or .rp, .ftz and .sat say.
void use_rounded_form(Decoder& d);

/// The handler of instructions that change nothing a program could see.
void do_nothing(const Step& step);

}  // namespace fatune::emulate
