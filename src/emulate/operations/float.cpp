#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "emulate/operations/float_rounding.hpp"
#include "emulate/operations/operations.hpp"
#include "emulate/operations/use_function.hpp"
#include "emulate/values/float_functions.hpp"

// Single and double precision: PTX ISA 9.0, section 9.7.3.
namespace fatune::emulate {
namespace {

using enum ScalarType;

template <typename F>
struct Canonical {
  template <typename... T>
  auto operator()(T... values) const {
    return canonical_result<F>(values...);
  }
};

/// The .ftz form of F in single precision.
template <typename F>
struct Flushed {
  template <typename... T>
  float operator()(T... values) const {
    return flush_subnormal(canonical(F{}(flush_subnormal(values)...)));
  }
};

/// The .ftz form of F, a product or a fused sum.
template <typename F, typename... From, std::size_t... kIndex>
void flushed_products(Execution& x, Warp& warp, const Instruction& instruction, Mask mask,
                      std::index_sequence<kIndex...>) {
  const auto sources = std::tuple{x.lanes<Raw<From>>(warp, instruction.operands[kIndex + 1])...};
  const auto value = [&](auto index, int lane) {
    return flush_subnormal(from_raw<float>(std::get<index()>(sources)[lane]));
  };
  std::uint32_t results[kLanes];
  std::uint32_t least = 0;  // whether any result is the least normal number: rare
  for (int lane = 0; lane < kLanes; ++lane) {
    results[lane] = to_raw<float>(flush_subnormal(
        canonical(F{}(value(std::integral_constant<std::size_t, kIndex>{}, lane)...))));
    least |= (results[lane] & 0x7fffffffU) == 0x00800000U ? 1U : 0U;
  }
  auto* const to = x.lanes<std::uint32_t>(warp, instruction.operands[0]);
  for_each_lane(least != 0 ? mask : 0U, [&](int lane) {
    results[lane] =
        to_raw<float>(flush_tiny(from_raw<float>(results[lane]),
                                 value(std::integral_constant<std::size_t, kIndex>{}, lane)...));
  });
  for_each_lane(mask, [&](int lane) { to[lane] = results[lane]; });
}

template <typename F, typename... From>
void flushed_product(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  flushed_products<F, From...>(x, warp, instruction, mask, std::index_sequence_for<From...>{});
}

template <typename F, typename T>
constexpr Handler kUnary = &lane_wise<F, T, T>;
template <typename F, typename T>
constexpr Handler kBinary = &lane_wise<F, T, T, T>;

/// The handlers of operations that round to nearest, or do not round at all.
template <typename F>
Handler unary(const Decoder& d) {
  return d.type() == f64 ? kUnary<Canonical<F>, double>
         : d.has("ftz")  ? kUnary<Flushed<F>, float>
                         : kUnary<Canonical<F>, float>;
}
template <typename F>
Handler binary(const Decoder& d) {
  return d.type() == f64 ? kBinary<Canonical<F>, double>
         : d.has("ftz")  ? kBinary<Flushed<F>, float>
                         : kBinary<Canonical<F>, float>;
}
Handler product(const Decoder& d) {
  return d.type() == f64 ? kBinary<Canonical<FloatMul>, double>
         : d.has("ftz")  ? &flushed_product<FloatMul, float, float>
                         : kBinary<Canonical<FloatMul>, float>;
}
Handler fused_product(const Decoder& d) {
  using F = FusedMultiplyAdd;
  return d.type() == f64 ? &lane_wise<Canonical<F>, double, double, double, double>
         : d.has("ftz")  ? &flushed_product<F, float, float, float>
                         : &lane_wise<Canonical<F>, float, float, float, float>;
}

/// True if the result is rounded to nearest and not saturated, as in nearly all programs.
bool is_plain(const Decoder& d) { return !d.one_of({"rz", "rm", "rp", "sat"}); }

template <typename F>
void use_unary(Decoder& d) {
  use(d, unary<F>(d), d.type(), {d.type()});
}

/// Chooses between the plain form of an operation and its rounded or saturated ones.
void use_rounded(Decoder& d, Handler plain, FloatOperation operation, std::size_t operands) {
  refuse(d, {"relu", "cc"});
  use(d, plain, d.type(), {});
  for (std::size_t i = 1; i <= operands; ++i) {
    d.add(d.value(i, d.type()));
  }
  if (!is_plain(d)) {
    d.result.handler = rounded_handler(operation, d.type() == f64);
    d.result.set_details(rounded_form(d));
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
  use(d, handler, t, {t, t});
}

void decode_float_add(Decoder& d) { use_rounded(d, binary<FloatAdd>(d), FloatOperation::add, 2); }
void decode_float_sub(Decoder& d) { use_rounded(d, binary<FloatSub>(d), FloatOperation::sub, 2); }
void decode_float_mul(Decoder& d) { use_rounded(d, product(d), FloatOperation::mul, 2); }
/// Decodes fma and mad. They are the same from sm_20 on.
void decode_float_fma(Decoder& d) { use_rounded(d, fused_product(d), FloatOperation::fma, 3); }

void decode_float_div(Decoder& d) {
  if (d.one_of({"approx", "full"})) {
    return decode_approximate_division(d);
  }
  use_rounded(d, binary<FloatDiv>(d), FloatOperation::div, 2);
}

void decode_rcp(Decoder& d) {
  if (d.has("approx")) {
    return decode_approximation(d);
  }
  use_rounded(d, unary<Reciprocal>(d), FloatOperation::rcp, 1);
}

void decode_sqrt(Decoder& d) {
  if (d.has("approx")) {
    return decode_approximation(d);
  }
  use_rounded(d, unary<SquareRoot>(d), FloatOperation::sqrt, 1);
}

float copy_sign(float from, float to) { return std::copysign(to, from); }
double copy_sign(double from, double to) { return std::copysign(to, from); }

template <typename T>
bool has_class(std::size_t kind, T value) {
  switch (kind) {
    case 0:
      return std::isfinite(value);
    case 1:
      return std::isinf(value);
    case 2:
      return !std::isnan(value);
    case 3:
      return std::isnan(value);
    case 4:
      return std::isnormal(value) || value == T{0};
    default:
      return std::fpclassify(value) == FP_SUBNORMAL;
  }
}

template <typename T>
void test_class(Execution& x, Warp& warp, const Instruction& instruction, Mask mask) {
  const auto* from = x.lanes<Raw<T>>(warp, instruction.operands[1]);
  Mask result = 0;
  for_each_lane(mask, [&](int lane) {
    result |= has_class(instruction.variant, from_raw<T>(from[lane])) ? lane_bit(lane) : 0U;
  });
  Mask& to = warp.predicates[instruction.operands[0].offset];
  to = (to & ~mask) | result;
}

void decode_copysign(Decoder& d) {
  return d.type() == f64 ? use_function<static_cast<double (*)(double, double)>(&copy_sign)>(d)
                         : use_function<static_cast<float (*)(float, float)>(&copy_sign)>(d);
}

void decode_testp(Decoder& d) {
  const auto kind = d.one_of({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  d.unsupported_if(!kind, "this form");
  d.result.handler = d.type() == f64 ? &test_class<double> : &test_class<float>;
  d.result.variant = static_cast<std::uint32_t>(*kind);
  d.add(d.predicate(0));
  d.add(d.value(1, d.type()));
}

}  // namespace

std::span<const NamedOperation> float_operations() {
  static constexpr NamedOperation kOperations[] = {{"abs", use_unary<FloatAbsolute>},
                                                   {"add", decode_float_add},
                                                   {"copysign", decode_copysign},
                                                   {"cos", decode_approximation},
                                                   {"div", decode_float_div},
                                                   {"ex2", decode_approximation},
                                                   {"fma", decode_float_fma},
                                                   {"lg2", decode_approximation},
                                                   {"mad", decode_float_fma},
                                                   {"max", use_float_extremum<FloatMaximum>},
                                                   {"min", use_float_extremum<FloatMinimum>},
                                                   {"mul", decode_float_mul},
                                                   {"neg", use_unary<FloatNegate>},
                                                   {"rcp", decode_rcp},
                                                   {"rsqrt", decode_approximation},
                                                   {"sin", decode_approximation},
                                                   {"sqrt", decode_sqrt},
                                                   {"sub", decode_float_sub},
                                                   {"tanh", decode_approximation},
                                                   {"testp", decode_testp}};
  return kOperations;
}

}  // namespace fatune::emulate
