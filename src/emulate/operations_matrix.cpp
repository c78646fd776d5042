#include <array>
#include <cstdint>

#include "emulate/execution.hpp"
#include "emulate/half.hpp"
#include "emulate/matrix_product.hpp"
#include "emulate/operations.hpp"

// mma.sync: PTX ISA 9.0, section 9.7.14.
namespace fatune::emulate {
namespace {

using enum ScalarType;

float element(std::uint32_t pair, std::size_t index, bool is_bfloat) {
  const auto bits = static_cast<std::uint16_t>(pair >> (16 * index));
  return is_bfloat ? from_bfloat(bits) : from_half(bits);
}

/// Lane (group = lane / 4, t = lane % 4) has of A rows group and group + 8, columns 2 t and 2 t + 1
/// (and + 8); of B rows 2 t, 2 t + 1 (and + 8), column group; of C columns 2 t and 2 t + 1.
void multiply(Execution& x, Warp& warp, const Instruction& instruction, Mask) {
  const bool is_bfloat = instruction.variant != 0;
  const Operand* const o = instruction.operands;  // D 0-3, A 4-7, B 8-9, C 10-13
  MatrixA a;
  MatrixB b;
  MatrixC c;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const std::size_t group = lane / 4;
    const std::size_t t = lane % 4 * 2;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::uint32_t bits = x.lanes<std::uint32_t>(warp, o[4 + i])[lane];
      const std::size_t row = group + i % 2 * 8;
      const std::size_t column = t + i / 2 * 8;
      a[row][column] = element(bits, 0, is_bfloat);
      a[row][column + 1] = element(bits, 1, is_bfloat);
      c[group + i / 2 * 8][t + i % 2] =
          from_raw<float>(x.lanes<std::uint32_t>(warp, o[10 + i])[lane]);
    }
    for (std::size_t i = 0; i < 2; ++i) {
      const std::uint32_t bits = x.lanes<std::uint32_t>(warp, o[8 + i])[lane];
      b[t + 8 * i][group] = element(bits, 0, is_bfloat);
      b[t + 8 * i + 1][group] = element(bits, 1, is_bfloat);
    }
  }
  multiply_add(a, b, c);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    for (std::size_t i = 0; i < 4; ++i) {
      x.lanes<std::uint32_t>(warp, o[i])[lane] =
          to_raw<float>(c[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2]);
    }
  }
}

}  // namespace

void decode_mma(Decoder& d) {
  const std::vector<ScalarType> bfloat{f32, bf16, bf16, f32};
  const std::vector<ScalarType> half{f32, f16, f16, f32};
  if (!d.has("sync") || !d.has("m16n8k16") || (d.types() != bfloat && d.types() != half)) {
    d.unsupported("only .m16n8k16 of 16-bit types, with .f32 accumulators");
  }
  d.add(d.destinations(0, b32));
  for (std::size_t i = 1; i < 4; ++i) {
    d.add(d.values(i, b32));
  }
  constexpr std::size_t kRegisters = 4 + 4 + 2 + 4;
  if (d.result_operands.size() != kRegisters) {
    d.malformed("the number of registers");
  }
  d.result.handler = &multiply;
  d.result.variant = d.types() == bfloat ? 1 : 0;
  d.result.flow = Flow::gather;
  d.result.all_members = true;
}

}  // namespace fatune::emulate
