#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "emulate/execution.hpp"
#include "emulate/operations/operations.hpp"
#include "emulate/values/half.hpp"
#include "emulate/values/matrix_product.hpp"
#include "emulate/values/transpose.hpp"

// mma.sync of 16 rows and 8 columns: PTX ISA 9.0, section 9.7.14.
//
// A register of A holds 8 rows of 16 bytes, lane after lane, for every type. The first register has
// rows 0 to 7, the second has rows 8 to 15, and the next ones have the next 16 bytes of these rows.
// A register of B holds 8 columns of 16 bytes.
namespace fatune::emulate {
namespace {

using enum ScalarType;

constexpr std::size_t kRowWords = 4;  // words of a row in one register
constexpr std::size_t kRowMost = 2 * kRowWords;

/// The details of a product.
struct MatrixShape {
  bool deep = false;  ///< rows of A have 32 bytes, not 16
  Factor factor = Factor::f16;
  Accumulator accumulator = Accumulator::f32;
  bool signed_a = false;  ///< whether 8-bit elements of A are signed
  bool signed_b = false;
  bool saturates = false;

  [[nodiscard]] std::size_t registers_a() const { return deep ? 4 : 2; }
  [[nodiscard]] std::size_t registers_b() const { return deep ? 2 : 1; }
  [[nodiscard]] std::size_t registers_c() const { return accumulator == Accumulator::f16 ? 2 : 4; }
};

/// Access to the lanes of a register. The operands are the registers of D, A, B and C, in this
/// order.
class Registers {
 public:
  Registers(const Execution& x, const Warp& warp, const Instruction& instruction, MatrixShape shape)
      : x_(x), warp_(warp), operands_(instruction.operands), shape_(shape) {}

  [[nodiscard]] std::uint32_t* d(std::size_t index) const { return lanes(index); }
  [[nodiscard]] const std::uint32_t* a(std::size_t index) const {
    return lanes(shape_.registers_c() + index);
  }
  [[nodiscard]] const std::uint32_t* b(std::size_t index) const {
    return lanes(shape_.registers_c() + shape_.registers_a() + index);
  }
  [[nodiscard]] const std::uint32_t* c(std::size_t index) const {
    return lanes(shape_.registers_c() + shape_.registers_a() + shape_.registers_b() + index);
  }

 private:
  [[nodiscard]] std::uint32_t* lanes(std::size_t index) const {
    return x_.lanes<std::uint32_t>(warp_, operands_[index]);
  }

  const Execution& x_;
  const Warp& warp_;
  const Operand* operands_;
  MatrixShape shape_;
};

/// Rows of up to 8 words: A's 16 rows, or B's 8 columns.
template <std::size_t kRows>
using Words = std::array<std::uint32_t, kRows * kRowMost>;

void put(const std::uint32_t* from, std::size_t first_row, std::size_t half, std::uint32_t* to) {
  for (std::size_t row = 0; row < 8; ++row) {
    std::copy_n(from + row * kRowWords, kRowWords, to + (2 * (first_row + row) + half) * kRowWords);
  }
}

Words<16> words_of_a(const Registers& registers, MatrixShape shape) {
  Words<16> words{};
  for (std::size_t i = 0; i < shape.registers_a(); ++i) {
    put(registers.a(i), i % 2 * 8, i / 2, words.data());
  }
  return words;
}

Words<8> words_of_b(const Registers& registers, MatrixShape shape) {
  Words<8> words{};
  for (std::size_t i = 0; i < shape.registers_b(); ++i) {
    put(registers.b(i), 0, i, words.data());
  }
  return words;
}

/// The words as rows of 16-bit elements.
template <std::size_t kRows>
std::array<std::uint16_t, kRows * kProductDepth> halves_of(const Words<kRows>& words) {
  return std::bit_cast<std::array<std::uint16_t, kRows * kProductDepth>>(words);
}

FactorsA factors_a(const Registers& registers, MatrixShape shape) {
  const Words<16> words = words_of_a(registers, shape);
  FactorsA factors;
  if (shape.factor != Factor::tf32) {
    set_factors(shape.factor, halves_of<16>(words), factors);
    return factors;
  }
  std::array<std::uint32_t, FactorsA::kCount> rows{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    rows[i / kRowMost * kProductDepth + i % kRowMost] = words[i];
  }
  set_factors(rows, factors);
  return factors;
}

FactorsB factors_b(const Registers& registers, MatrixShape shape) {
  FactorsB factors;
  if (shape.factor != Factor::tf32) {
    std::array<std::uint16_t, FactorsB::kCount> rows{};
    for (std::size_t i = 0; i < shape.registers_b(); ++i) {
      std::uint16_t* const part = rows.data() + i * rows.size() / 2;
      std::memcpy(part, registers.b(i), sizeof(rows) / 2);
      transpose_8x8(part);
    }
    set_factors(shape.factor, rows, factors);
    return factors;
  }
  const Words<8> columns = words_of_b(registers, shape);
  std::array<std::uint32_t, FactorsB::kCount> rows{};
  for (std::size_t i = 0; i < columns.size(); ++i) {
    rows[i % kRowMost * kProductColumns + i / kRowMost] = columns[i];
  }
  set_factors(rows, factors);
  return factors;
}

template <typename Value>
using Tile = std::array<Value, kProductRows * kProductColumns>;

/// Accumulators of 32 bits. Lane 4 r + t has columns 2 t and 2 t + 1: of row r in registers 0 and
/// 1, of row r + 8 in registers 2 and 3.
template <typename Value>
Tile<Value> accumulators(const Registers& registers) {
  Tile<Value> tile;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::uint32_t* const even = registers.c(2 * i);
    const std::uint32_t* const odd = registers.c(2 * i + 1);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      tile[2 * (i * kLanes + lane)] = from_raw<Value>(even[lane]);
      tile[2 * (i * kLanes + lane) + 1] = from_raw<Value>(odd[lane]);
    }
  }
  return tile;
}

template <typename Value>
void set_results(const Tile<Value>& tile, const Registers& registers) {
  for (std::size_t i = 0; i < 2; ++i) {
    std::uint32_t* const even = registers.d(2 * i);
    std::uint32_t* const odd = registers.d(2 * i + 1);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      even[lane] = to_raw<Value>(tile[2 * (i * kLanes + lane)]);
      odd[lane] = to_raw<Value>(tile[2 * (i * kLanes + lane) + 1]);
    }
  }
}

/// Accumulators of 16 bits, in pairs like the elements of A.
Accumulators half_accumulators(const Registers& registers) {
  Accumulators tile;
  for (std::size_t i = 0; i < tile.size(); ++i) {
    const std::uint32_t pair = registers.c(i / 64)[i % 64 / 2];
    tile[i] = from_half(static_cast<std::uint16_t>(pair >> 16 * (i % 2)));
  }
  return tile;
}

void set_half_results(const Accumulators& tile, const Registers& registers) {
  for (std::size_t i = 0; i < tile.size(); i += 2) {
    registers.d(i / 64)[i % 64 / 2] =
        to_half(tile[i]) | static_cast<std::uint32_t>(to_half(tile[i + 1])) << 16U;
  }
}

void multiply(Execution& x, Warp& warp, const Instruction& instruction, Mask) {
  const auto shape = instruction.details_as<MatrixShape>();
  const Registers registers(x, warp, instruction, shape);
  const FactorsA a = factors_a(registers, shape);
  const FactorsB b = factors_b(registers, shape);
  const bool half = shape.accumulator == Accumulator::f16;
  Accumulators c = half ? half_accumulators(registers) : accumulators<float>(registers);
  multiply_add(shape.accumulator, a, b, c);
  half ? set_half_results(c, registers) : set_results(c, registers);
}

std::int32_t byte_of(std::uint32_t word, std::size_t index, bool is_signed) {
  const auto byte = static_cast<std::uint8_t>(word >> 8 * index);
  return is_signed ? static_cast<std::int8_t>(byte) : byte;
}

std::int32_t as_integer(std::int64_t sum, bool saturates) {
  using Limits = std::numeric_limits<std::int32_t>;
  const auto clamped = std::clamp<std::int64_t>(sum, Limits::min(), Limits::max());
  return static_cast<std::int32_t>(saturates ? clamped : sum);
}

/// Multiplies A and B of 8-bit integers.
void multiply_integers(Execution& x, Warp& warp, const Instruction& instruction, Mask) {
  const auto shape = instruction.details_as<MatrixShape>();
  const Registers registers(x, warp, instruction, shape);
  const Words<16> a = words_of_a(registers, shape);
  const Words<8> b = words_of_b(registers, shape);
  Tile<std::int32_t> c = accumulators<std::int32_t>(registers);
  for (std::size_t i = 0; i < c.size(); ++i) {
    std::int64_t sum = c[i];
    for (std::size_t k = 0; k < 8 * sizeof(std::uint32_t); ++k) {
      sum +=
          std::int64_t{byte_of(a[i / kProductColumns * kRowMost + k / 4], k % 4, shape.signed_a)} *
          byte_of(b[i % kProductColumns * kRowMost + k / 4], k % 4, shape.signed_b);
    }
    c[i] = as_integer(sum, shape.saturates);
  }
  set_results(c, registers);
}

/// A supported form. Its name is the part of the opcode after "mma.sync.aligned.".
struct Form {
  std::string_view name;
  MatrixShape shape;
};
constexpr std::array kForms{
    Form{"m16n8k16.row.col.f32.f16.f16.f32", {.deep = true}},
    Form{"m16n8k8.row.col.f32.f16.f16.f32", {}},
    Form{"m16n8k16.row.col.f16.f16.f16.f16", {.deep = true, .accumulator = Accumulator::f16}},
    Form{"m16n8k8.row.col.f16.f16.f16.f16", {.accumulator = Accumulator::f16}},
    Form{"m16n8k16.row.col.f32.bf16.bf16.f32", {.deep = true, .factor = Factor::bf16}},
    Form{"m16n8k8.row.col.f32.bf16.bf16.f32", {.factor = Factor::bf16}},
    Form{"m16n8k8.row.col.f32.tf32.tf32.f32", {.deep = true, .factor = Factor::tf32}},
    Form{"m16n8k4.row.col.f32.tf32.tf32.f32", {.factor = Factor::tf32}},
};

bool is_byte(ScalarType type) { return type == s8 || type == u8; }

/// True for m16n8k32 and m16n8k16 of bytes, with or without .satfinite.
bool is_integer_form(const Decoder& d) {
  const auto& types = d.types();
  const bool saturates = d.has("satfinite");
  const bool shape = d.has("m16n8k32") || d.has("m16n8k16");
  const std::size_t parts = 6 + types.size() + (saturates ? 1 : 0);
  return shape && types.size() == 4 && types[0] == s32 && is_byte(types[1]) && is_byte(types[2]) &&
         types[3] == s32 && d.has("row") && d.has("col") && d.part_count() == parts;
}

MatrixShape integer_shape(const Decoder& d) {
  MatrixShape shape;
  shape.deep = d.has("m16n8k32");
  shape.signed_a = d.types()[1] == s8;
  shape.signed_b = d.types()[2] == s8;
  shape.saturates = d.has("satfinite");
  return shape;
}

void add_operands(Decoder& d, MatrixShape shape) {
  const std::array<std::size_t, 4> counts{shape.registers_c(), shape.registers_a(),
                                          shape.registers_b(), shape.registers_c()};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::vector<Operand> registers = i == 0 ? d.destinations(0, b32) : d.values(i, b32);
    d.malformed_if(registers.size() != counts[i], "wrong number of registers");
    d.add(registers);
  }
}

void add_product(Decoder& d, Handler handler, MatrixShape shape) {
  add_operands(d, shape);
  d.result.handler = handler;
  d.result.set_details(shape);
  d.gather_all();
}

}  // namespace

void decode_mma(Decoder& d) {
  constexpr std::string_view kPrefix = "mma.sync.aligned.";
  const std::string_view opcode = d.opcode();
  if (opcode.starts_with(kPrefix) && is_integer_form(d)) {
    return add_product(d, &multiply_integers, integer_shape(d));
  }
  const auto* const form = std::ranges::find_if(kForms, [&](const Form& one) {
    return opcode.starts_with(kPrefix) && opcode.substr(kPrefix.size()) == one.name;
  });
  d.unsupported_if(form == kForms.end(),
                   "only products of .m16n8 of 16-bit types, .tf32 and 8-bit integers");
  add_product(d, &multiply, form->shape);
}

}  // namespace fatune::emulate
