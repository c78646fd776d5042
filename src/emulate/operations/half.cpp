#include <cmath>
#include <cstdint>
#include <functional>
#include <type_traits>

#include "emulate/operations/lane_wise.hpp"
#include "emulate/operations/operations.hpp"
#include "emulate/values/floats.hpp"

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
std::uint32_t one_half(HalfForm form, Bits... bits) {
  const double value = F{}(Format::widen(flushed<Format>(bits, form))...);
  return narrowed(flushed<Format, F>(limited(value, form.saturates, form.rectifies), form),
                  Format::kFormat, Rounding::nearest);
}

template <typename Format, typename F, typename... From>
void halves(const Step& step) {
  const auto form = step.instruction.details_as<HalfForm>();
  with_sources<From...>(step, [&](const auto*... from) {
    auto* const to = step.words(0);
    const auto half = [&](int lane, std::uint32_t shift) {
      return one_half<Format, F>(form, static_cast<std::uint16_t>(from[lane] >> shift)...);
    };
    step.for_each(
        [&](int lane) { to[lane] = half(lane, 0) | (form.packed ? half(lane, 16) << 16U : 0U); });
  });
}

template <typename F, typename... From>
void use_halves(Decoder& d) {
  const ScalarType t = d.type();
  const bool packed = t == f16x2 || t == bf16x2;
  const ScalarType bits = packed ? b32 : b16;
  d.handle(t == f16 || t == f16x2 ? &halves<Half, F, From...> : &halves<Bfloat, F, From...>);
  d.to(0, bits);
  for (std::size_t i = 1; i <= sizeof...(From); ++i) {
    d.from(i, bits);
  }
  d.result.set_details(HalfForm{d.has("ftz"), d.has("sat"), d.has("relu"), packed});
}

using Bits = std::uint32_t;

template <typename F>
void use_half_extremum(Decoder& d) {
  if (d.has("xorsign")) {
    return d.has("NaN") ? use_halves<XorSign<NanFirst<F>>, Bits, Bits>(d)
                        : use_halves<XorSign<F>, Bits, Bits>(d);
  }
  return d.has("NaN") ? use_halves<NanFirst<F>, Bits, Bits>(d) : use_halves<F, Bits, Bits>(d);
}

}  // namespace

std::span<const NamedOperation> half_operations() {
  static constexpr NamedOperation kOperations[] = {
      {"abs", use_halves<FloatAbsolute, Bits>},
      {"add", use_halves<SumOf, Bits, Bits>},
      {"ex2", use_halves<Exp2Of, Bits>},
      {"fma", use_halves<FusedOf, Bits, Bits, Bits>},
      {"max", use_half_extremum<FloatMaximum>},
      {"min", use_half_extremum<FloatMinimum>},
      {"mul", use_halves<std::multiplies<>, Bits, Bits>},
      {"neg", use_halves<std::negate<>, Bits>},
      {"sub", use_halves<DifferenceOf, Bits, Bits>},
      {"tanh", use_halves<TanhOf, Bits>}};
  return kOperations;
}

}  // namespace fatune::emulate
