#include <cstdint>

#include "emulate/operations/operations.hpp"
#include "emulate/operations/use_function.hpp"
#include "emulate/values/float_functions.hpp"

// Approximations: PTX ISA 9.0, section 9.7.3. They are rounded correctly here, which is within
// the error that it allows. Where the hardware's ranges differ, its ranges are used.
namespace fatune::emulate {
namespace {

using enum ScalarType;

/// F, computed in double precision.
template <typename F>
struct InDouble {
  float operator()(float a) const { return static_cast<float>(F{}(static_cast<double>(a))); }
};

template <typename F>
float plain(float a) {
  return canonical(F{}(a));
}
template <typename F>
float flushed(float a) {
  return flush_subnormal(canonical(F{}(flush_subnormal(a))));
}

template <typename F>
void use_single(Decoder& d) {
  d.unsupported_if(d.type() != f32, "this type");
  return d.has("ftz") ? use_function<&flushed<F>>(d) : use_function<&plain<F>>(d);
}

template <typename F>
void use_in_double(Decoder& d, F) {
  use_single<InDouble<F>>(d);
}

// --- Double precision: the hardware uses the upper 32 bits and sets the rest to zero ---

double flush_double(double value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0, value) : value;
}

double upper_half(double value) {
  constexpr std::uint64_t kUpper = 0xffff'ffff'0000'0000U;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) & kUpper);
}

/// Applies F to the upper half of an operand.
template <typename F>
double of_upper_half(double a) {
  const double seen = flush_double(upper_half(a));
  return upper_half(flush_double(canonical_of(F{}(seen), seen)));
}

struct DoubleReciprocalRoot {
  double operator()(double a) const { return 1.0 / std::sqrt(a); }
};

double reciprocal_root(double a) { return canonical_of(1.0 / std::sqrt(a), a); }

// --- Division ---

/// a times the reciprocal of b. The reciprocal is 0 for |b| above 2^126.
float divide_approximately(float a, float b) {
  if (std::fabs(b) > 0x1p126F && !std::isinf(b)) {
    return canonical(a * std::copysign(0.0F, b));
  }
  return canonical(a / b);
}
float divide_flushed(float a, float b) {
  return flush_subnormal(divide_approximately(flush_subnormal(a), flush_subnormal(b)));
}
float divide_fully(float a, float b) { return canonical(a / b); }
float divide_fully_flushed(float a, float b) {
  return flush_subnormal(canonical(flush_subnormal(a) / flush_subnormal(b)));
}

}  // namespace

void decode_approximation(Decoder& d) {
  if (d.type() == f64 && d.has("ftz") && d.name() == "rcp") {
    return use_function<&of_upper_half<Reciprocal>>(d);
  }
  if (d.type() == f64 && d.name() == "rsqrt") {
    return d.has("ftz") ? use_function<&of_upper_half<DoubleReciprocalRoot>>(d)
                        : use_function<&reciprocal_root>(d);
  }
  if (d.name() == "ex2") return use_in_double(d, [](double a) { return std::exp2(a); });
  if (d.name() == "lg2") return use_in_double(d, [](double a) { return std::log2(a); });
  if (d.name() == "sin") return use_in_double(d, [](double a) { return std::sin(a); });
  if (d.name() == "cos") return use_in_double(d, [](double a) { return std::cos(a); });
  if (d.name() == "tanh") return use_in_double(d, [](double a) { return std::tanh(a); });
  if (d.name() == "rsqrt") return use_in_double(d, [](double a) { return 1.0 / std::sqrt(a); });
  if (d.name() == "sqrt") return use_single<SquareRoot>(d);
  return use_single<Reciprocal>(d);
}

void decode_approximate_division(Decoder& d) {
  d.unsupported_if(d.type() != f32, "this type");
  if (d.has("full")) {
    return d.has("ftz") ? use_function<&divide_fully_flushed>(d) : use_function<&divide_fully>(d);
  }
  return d.has("ftz") ? use_function<&divide_flushed>(d) : use_function<&divide_approximately>(d);
}

}  // namespace fatune::emulate
