#include <cstdint>
#include <functional>
#include <type_traits>

#include "emulator/operations/lane_wise.hpp"
#include "emulator/operations/operations.hpp"
#include "emulator/values/floats.hpp"

// Single and double precision, and 16-bit floats: PTX ISA 9.0, sections 9.7.3 and 9.7.4.
namespace fatune::emulate {
namespace {

using enum ScalarType;

template <typename F>
struct Canonical {
  auto operator()(auto... values) const { return canonical_result<F>(values...); }
};

/// The .ftz form of F in single precision.
template <typename F>
struct Flushed {
  float operator()(auto... values) const {
    return flush_subnormal(canonical(F{}(flush_subnormal(values)...)));
  }
};

/// The .ftz form of F, a product or a fused sum.
template <typename F, typename... From>
void flushed_product(const Step& step) {
  with_sources<From...>(step, [&](const auto*... from) {
    const auto value = [](auto source) { return flush_subnormal(from_raw<float>(source)); };
    std::uint32_t results[kLanes];
    std::uint32_t least = 0;  // whether any result is the least normal number: rare
    for (int lane = 0; lane < kLanes; ++lane) {
      results[lane] = to_raw<float>(flush_subnormal(canonical(F{}(value(from[lane])...))));
      least |= (results[lane] & 0x7fffffffU) == 0x00800000U ? 1U : 0U;
    }
    for_each_lane(least != 0 ? step.mask : 0U, [&](int lane) {
      results[lane] =
          to_raw<float>(flush_tiny(from_raw<float>(results[lane]), value(from[lane])...));
    });
    auto* const to = step.words(0);
    step.for_each([&](int lane) { to[lane] = results[lane]; });
  });
}

/// The handlers of operations that round to nearest, or do not round at all.
template <typename F, typename... From>
Handler single(const Decoder& d) {
  return d.has("ftz") ? &lane_wise<Flushed<F>{}, float, From...>
                      : &lane_wise<Canonical<F>{}, float, From...>;
}
template <typename F>
Handler unary(const Decoder& d) {
  return d.type() == f64 ? &lane_wise<Canonical<F>{}, double, double> : single<F, float>(d);
}
template <typename F>
Handler binary(const Decoder& d) {
  return d.type() == f64 ? &lane_wise<Canonical<F>{}, double, double, double>
                         : single<F, float, float>(d);
}
Handler product(const Decoder& d) {
  using F = std::multiplies<>;
  return d.type() != f64 && d.has("ftz") ? &flushed_product<F, float, float> : binary<F>(d);
}
Handler fused_product(const Decoder& d) {
  using F = FusedMultiplyAdd;
  return d.type() == f64 ? &lane_wise<Canonical<F>{}, double, double, double, double>
         : d.has("ftz")  ? &flushed_product<F, float, float, float>
                         : &lane_wise<Canonical<F>{}, float, float, float, float>;
}

template <typename F>
void use_unary(Decoder& d) {
  d.use(unary<F>(d), d.type(), {d.type()});
}

/// Chooses between the plain form of an operation and its rounded or saturated ones. Nearly all
/// programs round to nearest, without saturation.
template <Handler (*kPlain)(const Decoder&), std::size_t kOperands>
void use_rounded(Decoder& d) {
  refuse(d, {"relu", "cc"});
  d.handle(kPlain(d)).to(0, d.type());
  for (std::size_t i = 1; i <= kOperands; ++i) {
    d.from(i, d.type());
  }
  if (d.one_of({"rz", "rm", "rp", "sat"})) {
    use_rounded_form(d);
  }
}

template <typename F>
void use_float_extremum(Decoder& d) {
  const ScalarType t = d.type();
  d.unsupported_if(
      d.one_of({"relu"}) || (t == f64 && d.one_of({"NaN", "xorsign"})) || d.operand_count() != 3,
      "this form");
  const Handler handler =
      d.has("xorsign") ? (d.has("NaN") ? binary<XorSign<NanFirst<F>>>(d) : binary<XorSign<F>>(d))
      : d.has("NaN")   ? binary<NanFirst<F>>(d)
                       : binary<F>(d);
  d.use(handler, t, {t, t});
}

// --- Approximations. They are rounded correctly here, which is within the error that the ISA
// allows. Where the hardware's ranges differ, its ranges are used ---

/// kFunction, computed in double precision.
template <auto kFunction>
struct InDouble {
  float operator()(float a) const { return static_cast<float>(kFunction(static_cast<double>(a))); }
};
constexpr auto kExp2 = [](double a) { return std::exp2(a); };
constexpr auto kLog2 = [](double a) { return std::log2(a); };
constexpr auto kSin = [](double a) { return std::sin(a); };
constexpr auto kCos = [](double a) { return std::cos(a); };
constexpr auto kTanh = [](double a) { return std::tanh(a); };
constexpr auto kReciprocalRoot = [](double a) { return 1.0 / std::sqrt(a); };

template <typename F>
void use_single(Decoder& d) {
  d.unsupported_if(d.type() != f32, "this type");
  d.use(single<F, float>(d), f32, {f32});
}

double flush_double(double value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0, value) : value;
}

double upper_half(double value) {
  constexpr std::uint64_t kUpper = 0xffff'ffff'0000'0000U;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) & kUpper);
}

/// Applies F to the upper 32 bits of an operand. The hardware sets the rest to zero.
template <auto kFunction>
double of_upper_half(double a) {
  const double seen = flush_double(upper_half(a));
  return upper_half(flush_double(canonical_of(kFunction(seen), seen)));
}

double reciprocal_root(double a) { return canonical_of(kReciprocalRoot(a), a); }

void decode_rsqrt(Decoder& d) {
  if (d.type() == f64) {
    return d.has("ftz") ? use_function<&of_upper_half<kReciprocalRoot>>(d)
                        : use_function<&reciprocal_root>(d);
  }
  use_single<InDouble<kReciprocalRoot>>(d);
}

void decode_rcp(Decoder& d) {
  if (!d.has("approx")) {
    return use_rounded<&unary<Reciprocal>, 1>(d);
  }
  return d.type() == f64 && d.has("ftz") ? use_function<&of_upper_half<Reciprocal{}>>(d)
                                         : use_single<Reciprocal>(d);
}

void decode_sqrt(Decoder& d) {
  return d.has("approx") ? use_single<SquareRoot>(d) : use_rounded<&unary<SquareRoot>, 1>(d);
}

/// a times the reciprocal of b. The reciprocal is 0 for |b| above 2^126.
struct DivideApproximately {
  float operator()(float a, float b) const {
    const bool vanishes = std::fabs(b) > 0x1p126F && !std::isinf(b);
    return vanishes ? a * std::copysign(0.0F, b) : a / b;
  }
};

void decode_float_div(Decoder& d) {
  if (!d.one_of({"approx", "full"})) {
    return use_rounded<&binary<std::divides<>>, 2>(d);
  }
  d.unsupported_if(d.type() != f32, "this type");
  d.use(d.has("full") ? single<std::divides<>, float, float>(d)
                      : single<DivideApproximately, float, float>(d),
        f32, {f32, f32});
}

constexpr auto kCopySign = [](auto from, auto to) { return std::copysign(to, from); };

/// Whether a value has a class, which is numbered as in decode_testp.
template <typename T>
bool has_class(std::size_t kind, T value) {
  const bool is_nan = std::isnan(value);
  const bool has[]{std::isfinite(value),
                   std::isinf(value),
                   !is_nan,
                   is_nan,
                   std::isnormal(value) || value == T{0},
                   std::fpclassify(value) == FP_SUBNORMAL};
  return has[kind];
}

template <typename T>
void test_class(const Step& step) {
  const auto* from = step.lanes<Raw<T>>(1);
  const Mask result = lanes_where(step.mask, [&](int lane) {
    return has_class(step.instruction.variant, from_raw<T>(from[lane]));
  });
  step.set_predicate(0, result, step.mask);
}

void decode_testp(Decoder& d) {
  const auto kind = d.one_of({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  d.unsupported_if(!kind, "this form");
  d.handle(d.type() == f64 ? &test_class<double> : &test_class<float>, *kind);
  d.sets(0).from(1, d.type());
}

// --- f16 and bf16, alone or two in 32 bits ---

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
using SumOf = decltype([](double a, double b) { return odd_sum(a, b); });
using DifferenceOf = decltype([](double a, double b) { return odd_sum(a, -b); });
using FusedOf = decltype([](double a, double b, double c) { return odd_sum(a * b, c); });

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

Operations float_operations() {
  return {{"abs", use_unary<FloatAbsolute>},
          {"add", use_rounded<&binary<std::plus<>>, 2>},
          {"copysign", use_for<kCopySign, Own(Own, Own), f32, f64>},
          {"cos", use_single<InDouble<kCos>>},
          {"div", decode_float_div},
          {"ex2", use_single<InDouble<kExp2>>},
          {"fma", use_rounded<&fused_product, 3>},
          {"lg2", use_single<InDouble<kLog2>>},
          {"mad", use_rounded<&fused_product, 3>},
          {"max", use_float_extremum<FloatMaximum>},
          {"min", use_float_extremum<FloatMinimum>},
          {"mul", use_rounded<&product, 2>},
          {"neg", use_unary<std::negate<>>},
          {"rcp", decode_rcp},
          {"rsqrt", decode_rsqrt},
          {"sin", use_single<InDouble<kSin>>},
          {"sqrt", decode_sqrt},
          {"sub", use_rounded<&binary<std::minus<>>, 2>},
          {"tanh", use_single<InDouble<kTanh>>},
          {"testp", decode_testp}};
}

Operations half_operations() {
  return {{"abs", use_halves<FloatAbsolute, Bits>},
          {"add", use_halves<SumOf, Bits, Bits>},
          {"ex2", use_halves<decltype(kExp2), Bits>},
          {"fma", use_halves<FusedOf, Bits, Bits, Bits>},
          {"max", use_half_extremum<FloatMaximum>},
          {"min", use_half_extremum<FloatMinimum>},
          {"mul", use_halves<std::multiplies<>, Bits, Bits>},
          {"neg", use_halves<std::negate<>, Bits>},
          {"sub", use_halves<DifferenceOf, Bits, Bits>},
          {"tanh", use_halves<decltype(kTanh), Bits>}};
}

}  // namespace fatune::emulate
