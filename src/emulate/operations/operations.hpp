#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "emulate/decode/decoder.hpp"
#include "emulate/execution.hpp"

namespace fatune::emulate {

/// The operation for the first part of an opcode ("add"); null: not covered.
[[nodiscard]] Operation find_operation(std::string_view name);

/// The first parts of all opcodes that have an operation, sorted. docs/emulate.md lists them.
[[nodiscard]] std::vector<std::string_view> covered_opcodes();

struct NamedOperation {
  std::string_view name;  ///< the opcode's first part
  Operation decode;
};

// The operations of each file. A name may have operations on integers, on .f32 and .f64, and on
// 16-bit floats. The instruction's last type chooses between them.
[[nodiscard]] std::span<const NamedOperation> integer_operations();
[[nodiscard]] std::span<const NamedOperation> float_operations();
[[nodiscard]] std::span<const NamedOperation> half_operations();

[[nodiscard]] std::span<const NamedOperation> atomic_operations();
[[nodiscard]] std::span<const NamedOperation> bit_operations();
[[nodiscard]] std::span<const NamedOperation> call_operations();
[[nodiscard]] std::span<const NamedOperation> collective_operations();
[[nodiscard]] std::span<const NamedOperation> comparison_operations();
[[nodiscard]] std::span<const NamedOperation> conversion_operations();
[[nodiscard]] std::span<const NamedOperation> copy_operations();
[[nodiscard]] std::span<const NamedOperation> matrix_operations();
[[nodiscard]] std::span<const NamedOperation> mbarrier_operations();
[[nodiscard]] std::span<const NamedOperation> memory_operations();
[[nodiscard]] std::span<const NamedOperation> move_operations();
[[nodiscard]] std::span<const NamedOperation> sync_operations();
[[nodiscard]] std::span<const NamedOperation> warpgroup_operations();

/// Makes a floating-point instruction round as .rn, .rz, .rm or .rp, .ftz and .sat say.
void use_rounded_form(Decoder& d);

/// The handler of instructions that change nothing a program could see.
void do_nothing(const Step& step);

}  // namespace fatune::emulate
