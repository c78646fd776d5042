#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "emulate/operations/operations.hpp"
#include "emulate/operations/use_function.hpp"
#include "emulate/values/float_functions.hpp"
#include "emulate/values/half.hpp"
#include "emulate/values/rounding.hpp"

// f16 and bf16, alone or two in 32 bits: PTX ISA 9.0, section 9.7.4.
namespace fatune::emulate {
namespace {

using enum ScalarType;

struct HalfForm {
  bool flushes = false;
  bool saturates = false;
  bool rectifies = false;
  bool packed = false;
};

struct Half {
  static constexpr FloatFormat kFormat = kHalfFormat;
  static double widen(std::uint16_t bits) { return static_cast<double>(from_half(bits)); }
};
struct Bfloat {
  static constexpr FloatFormat kFormat = kBfloatFormat;
  static double widen(std::uint16_t bits) { return static_cast<double>(from_bfloat(bits)); }
};

// Results in double precision. Sums are exact or have an odd last bit. They are then rounded once.

struct SumOf {
  double operator()(double a, double b) const { return odd_sum(a, b); }
};
struct DifferenceOf {
  double operator()(double a, double b) const { return odd_sum(a, -b); }
};
struct FusedOf {
  double operator()(double a, double b, double c) const { return odd_sum(a * b, c); }
};
struct Exp2Of {
  double operator()(double a) const { return std::exp2(a); }
};
struct TanhOf {
  double operator()(double a) const { return std::tanh(a); }
};

double limited(double value, HalfForm form) {
  if (form.saturates) {
    return value > 0.0 ? std::min(value, 1.0) : 0.0;
  }
  return form.rectifies && value <= 0.0 ? 0.0 : value;
}

template <typename Format>
std::uint16_t flushed(std::uint16_t bits, HalfForm form) {
  const bool subnormal = (bits & Format::kFormat.infinity()) == 0;
  return form.flushes && subnormal ? static_cast<std::uint16_t>(bits & Format::kFormat.sign())
                                   : bits;
}

/// .ftz: a value less than the least normal number becomes 0, even if it would round up to that
/// number. A fused sum that would round up to it is kept.
template <typename Format, typename F>
double flushed(double value, HalfForm form) {
  constexpr bool kFused = std::is_same_v<F, FusedOf>;
  const double normal = Format::widen(std::uint16_t{1U << Format::kFormat.fraction_bits});
  const double least =
      kFused ? normal * (1.0 - std::ldexp(1.0, -2 - Format::kFormat.fraction_bits)) : normal;
  return form.flushes && std::fabs(value) < least ? std::copysign(0.0, value) : value;
}

template <typename Format, typename F, typename... Bits>
std::uint16_t one_half(HalfForm form, Bits... bits) {
  const double value = F{}(Format::widen(flushed<Format>(bits, form))...);
  return static_cast<std::uint16_t>(
      narrowed(flushed<Format, F>(limited(value, form), form), Format::kFormat, Rounding::nearest));
}

template <typename Format, typename F, std::size_t... kIndex>
void map_halves(Execution& x, Warp& warp, const Instruction& instruction, Mask mask,
                std::index_sequence<kIndex...>) {
  const auto form = instruction.details_as<HalfForm>();
  const auto bits = [&](std::size_t operand, int lane, std::uint32_t shift) {
    return static_cast<std::uint16_t>(
        x.lanes<std::uint32_t>(warp, instruction.operands[operand])[lane] >> shift);
  };
  auto* const to = x.lanes<std::uint32_t>(warp, instruction.operands[0]);
  for_each_lane(mask, [&](int lane) {
    std::uint32_t value = one_half<Format, F>(form, bits(kIndex + 1, lane, 0)...);
    if (form.packed) {
      value |= static_cast<std::uint32_t>(one_half<Format, F>(form, bits(kIndex + 1, lane, 16)...))
               << 16U;
    }
    to[lane] = value;
  });
}

template <typename Format, typename F, std::size_t kOperands>
void halves(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  map_halves<Format, F>(x, warp, instruction, mask, std::make_index_sequence<kOperands>{});
}

template <typename F, std::size_t kOperands>
void use_halves(Decoder& d) {
  const ScalarType t = d.type();
  const bool packed = t == f16x2 || t == bf16x2;
  const ScalarType bits = packed ? b32 : b16;
  use(d, t == f16 || t == f16x2 ? &halves<Half, F, kOperands> : &halves<Bfloat, F, kOperands>, bits,
      {});
  for (std::size_t i = 1; i <= kOperands; ++i) {
    d.add(d.value(i, bits));
  }
  d.result.set_details(HalfForm{d.has("ftz"), d.has("sat"), d.has("relu"), packed});
}

template <typename F>
void use_half_extremum(Decoder& d) {
  if (d.has("xorsign")) {
    return d.has("NaN") ? use_halves<XorSign<NanFirst<F>>, 2>(d) : use_halves<XorSign<F>, 2>(d);
  }
  return d.has("NaN") ? use_halves<NanFirst<F>, 2>(d) : use_halves<F, 2>(d);
}

}  // namespace

std::span<const NamedOperation> half_operations() {
  static constexpr NamedOperation kOperations[] = {
      {"abs", use_halves<FloatAbsolute, 1>},    {"add", use_halves<SumOf, 2>},
      {"ex2", use_halves<Exp2Of, 1>},           {"fma", use_halves<FusedOf, 3>},
      {"max", use_half_extremum<FloatMaximum>}, {"min", use_half_extremum<FloatMinimum>},
      {"mul", use_halves<FloatMul, 2>},         {"neg", use_halves<FloatNegate, 1>},
      {"sub", use_halves<DifferenceOf, 2>},     {"tanh", use_halves<TanhOf, 1>}};
  return kOperations;
}

}  // namespace fatune::emulate
