#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/text_parts.hpp"
#include "emulator/async/warpgroup_products.hpp"
#include "emulator/operations/operations.hpp"
#include "emulator/values/floats.hpp"
#include "emulator/values/integers.hpp"
#include "emulator/values/matrix_product.hpp"

// mma.sync of 16 rows and 8 columns, and wgmma: PTX ISA 9.0, sections 9.7.14 and 9.7.15.
namespace fatune::emulate {
namespace {

using enum ScalarType;

constexpr std::size_t kRowMost = 8;  ///< words of a row of A or a column of B

/// The details of a product. The operands are the registers of D, A, B and C, in this order.
struct MatrixShape {
  bool deep = false;  ///< rows of A have 32 bytes, not 16
  Factor factor = Factor::f16;
  Factor factor_b = Factor::f16;  ///< for 8-bit floats: A and B may have different types
  Accumulator accumulator = Accumulator::f32;
  bool signed_a = false;  ///< whether 8-bit elements of A are signed
  bool signed_b = false;
  bool saturates = false;

  [[nodiscard]] std::size_t registers_a() const { return deep ? 4 : 2; }
  [[nodiscard]] std::size_t registers_b() const { return deep ? 2 : 1; }
  [[nodiscard]] std::size_t registers_c() const { return accumulator == Accumulator::f16 ? 2 : 4; }
  [[nodiscard]] std::size_t first_b() const { return registers_c() + registers_a(); }
  [[nodiscard]] std::size_t first_c() const { return first_b() + registers_b(); }
};

/// Access to the lanes of registers from operand `first` on.
auto registers_from(const Step& step, std::size_t first) {
  return [&step, first](std::size_t index) { return step.words(first + index); };
}

Words<16> words_of_a(const Step& step, const MatrixShape& shape) {
  return words_of<16>(registers_from(step, shape.registers_c()), shape.registers_a());
}

Words<8> words_of_b(const Step& step, const MatrixShape& shape) {
  return words_of<8>(registers_from(step, shape.first_b()), shape.registers_b());
}

FactorsA factors_a(const Step& step, const MatrixShape& shape) {
  const Words<16> words = words_of_a(step, shape);
  if (shape.factor != Factor::tf32) {
    return factors_of_rows(shape.factor, words, 0, shape.factor);
  }
  FactorsA factors;
  std::array<std::uint32_t, FactorsA::kCount> rows{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    rows[i / kRowMost * kProductDepth + i % kRowMost] = words[i];
  }
  set_factors(rows, factors);
  return factors;
}

FactorsB factors_b(const Step& step, const MatrixShape& shape) {
  const Words<8> columns = words_of_b(step, shape);
  if (shape.factor != Factor::tf32) {
    return factors_of_columns(shape.factor, columns, 0, shape.factor);
  }
  FactorsB factors;
  std::array<std::uint32_t, FactorsB::kCount> rows{};
  for (std::size_t i = 0; i < columns.size(); ++i) {
    rows[i % kRowMost * kProductColumns + i / kRowMost] = columns[i];
  }
  set_factors(rows, factors);
  return factors;
}

Accumulators sums_before(const Step& step, const MatrixShape& shape) {
  const auto from = registers_from(step, shape.first_c());
  return shape.accumulator == Accumulator::f16 ? half_accumulators(from)
                                               : accumulators<float>(from);
}

void set_sums(const Step& step, const MatrixShape& shape, const Accumulators& sums) {
  const auto to = registers_from(step, 0);
  shape.accumulator == Accumulator::f16 ? set_half_accumulators(sums, to)
                                        : set_accumulators(sums, to);
}

void multiply(const Step& step) {
  const auto shape = step.instruction.details_as<MatrixShape>();
  Accumulators sums = sums_before(step, shape);
  const FactorsA a = factors_a(step, shape);
  const FactorsB b = factors_b(step, shape);
  multiply_add({.accumulator = shape.accumulator}, {&a, 1}, {&b, 1}, sums);
  set_sums(step, shape, sums);
}

/// A sum rounded to nearest.
float added(Accumulator type, float a, float b) {
  if (type == Accumulator::f32) {
    return canonical(a + b);
  }
  const double exact = static_cast<double>(a) + static_cast<double>(b);
  return from_half(static_cast<std::uint16_t>(narrowed(exact, kHalfFormat, Rounding::nearest)));
}

/// Multiplies A and B of 8-bit floats. Hopper has no such instruction: its machine code converts
/// them to halves, multiplies the parts one after the other, starting from zero, and adds C with an
/// ordinary addition. Seen with NVRTC 13.0 for sm_90a.
void multiply_fp8(const Step& step) {
  const auto shape = step.instruction.details_as<MatrixShape>();
  const Words<16> a = words_of_a(step, shape);
  const Words<8> b = words_of_b(step, shape);
  Accumulators sums{};
  for (std::size_t part = 0; part < parts_of(shape.factor); ++part) {
    const FactorsA part_a = factors_of_rows(shape.factor, a, part, Factor::f16);
    const FactorsB part_b = factors_of_columns(shape.factor_b, b, part, Factor::f16);
    multiply_add({.accumulator = shape.accumulator}, {&part_a, 1}, {&part_b, 1}, sums);
  }
  const Accumulators before = sums_before(step, shape);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i] = added(shape.accumulator, before[i], sums[i]);
  }
  set_sums(step, shape, sums);
}

std::int32_t byte_of(std::uint32_t word, std::size_t index, bool is_signed) {
  const auto byte = static_cast<std::uint8_t>(word >> 8 * index);
  return is_signed ? static_cast<std::int8_t>(byte) : byte;
}

/// Multiplies A and B of 8-bit integers.
void multiply_integers(const Step& step) {
  const auto shape = step.instruction.details_as<MatrixShape>();
  const Words<16> a = words_of_a(step, shape);
  const Words<8> b = words_of_b(step, shape);
  auto c = accumulators<std::int32_t>(registers_from(step, shape.first_c()));
  for (std::size_t i = 0; i < c.size(); ++i) {
    std::int64_t sum = c[i];
    for (std::size_t k = 0; k < 4 * kRowMost; ++k) {
      sum +=
          std::int64_t{byte_of(a[i / kProductColumns * kRowMost + k / 4], k % 4, shape.signed_a)} *
          byte_of(b[i % kProductColumns * kRowMost + k / 4], k % 4, shape.signed_b);
    }
    c[i] = shape.saturates ? saturated<std::int32_t>(sum) : static_cast<std::int32_t>(sum);
  }
  set_accumulators(c, registers_from(step, 0));
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

/// True for m16n8k32 and m16n8k16 with four types, and `more` other modifiers than these need.
bool is_byte_form(const Decoder& d, std::size_t more) {
  const bool shape = d.has("m16n8k32") || d.has("m16n8k16");
  const std::size_t parts = 6 + d.types().size() + more;
  return shape && d.types().size() == 4 && d.has("row") && d.has("col") && d.part_count() == parts;
}

bool is_byte(ScalarType type) { return type == s8 || type == u8; }

/// True for products of 8-bit integers, with or without .satfinite.
bool is_integer_form(const Decoder& d) {
  const auto& types = d.types();
  return is_byte_form(d, d.has("satfinite") ? 1 : 0) && types[0] == s32 && is_byte(types[1]) &&
         is_byte(types[2]) && types[3] == s32;
}

bool is_fp8(ScalarType type) { return type == e4m3 || type == e5m2; }

/// True for products of 8-bit floats.
bool is_fp8_form(const Decoder& d) {
  const auto& types = d.types();
  return is_byte_form(d, 0) && (types[0] == f32 || types[0] == f16) && is_fp8(types[1]) &&
         is_fp8(types[2]) && types[3] == types[0];
}

/// Precondition: the type is f16, bf16, e4m3 or e5m2.
Factor factor_of(ScalarType type) {
  return type == bf16   ? Factor::bf16
         : type == e4m3 ? Factor::e4m3
         : type == e5m2 ? Factor::e5m2
                        : Factor::f16;
}

void add_product(Decoder& d, Handler handler, const MatrixShape& shape) {
  d.handle(handler).to_all(0, b32, shape.registers_c()).from_all(1, b32, shape.registers_a());
  d.from_all(2, b32, shape.registers_b()).from_all(3, b32, shape.registers_c()).gather_all();
  d.result.set_details(shape);
}

void decode_mma(Decoder& d) {
  constexpr std::string_view kPrefix = "mma.sync.aligned.";
  const std::string_view opcode = d.opcode();
  if (opcode.starts_with(kPrefix) && is_integer_form(d)) {
    return add_product(d, &multiply_integers,
                       {.deep = d.has("m16n8k32"),
                        .signed_a = d.types()[1] == s8,
                        .signed_b = d.types()[2] == s8,
                        .saturates = d.has("satfinite")});
  }
  if (opcode.starts_with(kPrefix) && is_fp8_form(d)) {
    return add_product(d, &multiply_fp8,
                       {.deep = d.has("m16n8k32"),
                        .factor = factor_of(d.types()[1]),
                        .factor_b = factor_of(d.types()[2]),
                        .accumulator = d.types()[0] == f16 ? Accumulator::f16 : Accumulator::f32});
  }
  const auto* const form = std::ranges::find_if(kForms, [&](const Form& one) {
    return opcode.starts_with(kPrefix) && opcode.substr(kPrefix.size()) == one.name;
  });
  d.unsupported_if(form == kForms.end(),
                   "only products of .m16n8 of 16-bit types, .tf32, 8-bit floats and integers");
  add_product(d, &multiply, form->shape);
}

constexpr std::int64_t kMostPendingProducts = 7;

/// N of "m64n128k16". `depth` is the last part: "k16".
std::uint16_t columns_of(const Decoder& d, std::string_view depth) {
  for (std::size_t i = 1; i < d.part_count(); ++i) {
    const std::string_view part = d.part(i);
    if (!part.starts_with("m64n") || !part.ends_with(depth)) {
      continue;
    }
    const auto columns = whole_number<std::uint16_t>(part.substr(4, part.size() - 4 - depth.size()))
                             .value_or(std::uint16_t{0});
    if (columns >= 8 && columns <= 256 && columns % 8 == 0) {
      return columns;
    }
  }
  d.unsupported("only m64nNk16 of 16-bit and m64nNk32 of 8-bit types, N from 8 to 256 by 8");
}

bool negates(const Decoder& d, std::size_t index) {
  const std::int64_t scale = d.immediate(index);
  d.malformed_if(scale != 1 && scale != -1, "a scale must be 1 or -1");
  return scale == -1;
}

/// Ends decoding unless the types are those of D, A and B of a covered product.
void require_product_types(const Decoder& d) {
  const std::vector<ScalarType>& types = d.types();
  d.unsupported_if(d.has("sp") || types.size() != 3, "only dense products of floats");
  if (is_fp8(types[1]) && is_fp8(types[2])) {
    return d.unsupported_if(types[0] != f32, "8-bit floats only with sums in .f32");
  }
  d.unsupported_if(types[1] != types[2] || (types[1] != f16 && types[1] != bf16) ||
                       (types[0] != f32 && (types[0] != f16 || types[1] != f16)),
                   "only .f16, .bf16, .e4m3 and .e5m2, of which only 8-bit types may be mixed");
}

/// Sets which operands are not K-major.
void set_majors(const Decoder& d, ProductShape& shape) {
  if (is_fp8(shape.a)) {
    d.malformed_if(d.operand_count() != 6, "8-bit matrices are K-major, and no operand says so");
    return;
  }
  // There is no operand for the major dimension of A in registers.
  const std::size_t last = shape.a_in_registers ? 6 : 7;
  shape.a_is_mn_major = !shape.a_in_registers && d.immediate(6) != 0;
  shape.b_is_mn_major = d.immediate(last) != 0;
}

ProductShape product_shape_of(const Decoder& d) {
  require_product_types(d);
  const std::vector<ScalarType>& types = d.types();
  ProductShape shape;
  shape.columns = columns_of(d, is_fp8(types[1]) ? "k32" : "k16");
  shape.a = factor_of(types[1]);
  shape.b = factor_of(types[2]);
  shape.half_sums = types[0] == f16;
  shape.a_in_registers = d.operand(1).starts_with('{');
  shape.negates = negates(d, 4) != negates(d, 5);
  set_majors(d, shape);
  return shape;
}

void decode_product(Decoder& d) {
  const ProductShape shape = product_shape_of(d);
  d.handle(&issue_product).to_all(0, b32, shape.sums(), "wrong number of registers of D");
  if (shape.a_in_registers) {
    d.from_all(1, b32, 4, "wrong number of registers of A");
  } else {
    d.from(1, b64);
  }
  d.from(2, b64).asks(3);
  d.result.set_details(shape);
  d.result.is_product = true;
}

void decode_wgmma(Decoder& d) {
  d.unsupported_if(!d.has("sync") || !d.has("aligned"));
  d.gather_all();
  if (d.has("mma_async")) {
    decode_product(d);
  } else if (d.has("fence")) {
    d.handle([](const Step& step) { fence_watched(step.warp); });
  } else if (d.has("commit_group")) {
    d.handle([](const Step& step) { ++step.warp.products_committed; });
  } else if (d.has("wait_group")) {
    d.handle(&await_products, d.count(0, kMostPendingProducts, "it can wait for 0 to 7 groups"));
    d.await(&products_are_issued, Awaited::products);
  } else {
    d.unsupported();
  }
}

}  // namespace

Operations matrix_operations() { return {{"mma", decode_mma}, {"wgmma", decode_wgmma}}; }

}  // namespace fatune::emulate
