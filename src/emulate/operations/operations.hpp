#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "emulate/decode/decoder.hpp"

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

[[nodiscard]] std::span<const NamedOperation> bit_operations();
[[nodiscard]] std::span<const NamedOperation> bit_field_operations();
[[nodiscard]] std::span<const NamedOperation> call_operations();
[[nodiscard]] std::span<const NamedOperation> carry_operations();
[[nodiscard]] std::span<const NamedOperation> cluster_operations();
[[nodiscard]] std::span<const NamedOperation> collective_operations();
[[nodiscard]] std::span<const NamedOperation> comparison_operations();
[[nodiscard]] std::span<const NamedOperation> hint_operations();
[[nodiscard]] std::span<const NamedOperation> memory_operations();
[[nodiscard]] std::span<const NamedOperation> move_operations();
[[nodiscard]] std::span<const NamedOperation> selection_operations();
[[nodiscard]] std::span<const NamedOperation> sync_operations();
void decode_atomic(Decoder& d);
void decode_cp(Decoder& d);
void decode_cvt(Decoder& d);
void decode_mbarrier(Decoder& d);
void decode_mma(Decoder& d);
void decode_wgmma(Decoder& d);

// Forms of opcodes whose other forms are in another file.
void decode_approximate_division(Decoder& d);
void decode_approximation(Decoder& d);
void decode_bulk(Decoder& d);
void decode_carry(Decoder& d);
/// Decodes a mov of %clock or a similar register. Returns false if the instruction is not one.
[[nodiscard]] bool decode_clock(Decoder& d);
void decode_cluster_barrier(Decoder& d);

/// The handler of instructions that change nothing a program could see.
void do_nothing(Execution& x, Warp& warp, const Instruction& instruction, Mask mask);

}  // namespace fatune::emulate
