#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <type_traits>

#include "emulate/values/rounding.hpp"

// The results of floating-point instructions: PTX ISA 9.0, section 9.7.3. NaNs are those of an H200
// (tests/recorded).
namespace fatune::emulate {

/// Single precision has one NaN.
inline float canonical(float value) {
  constexpr std::uint32_t kNan = 0x7fffffffU;
  return std::isnan(value) ? std::bit_cast<float>(kNan) : value;
}

/// In double precision, a NaN result is the last NaN among `operands`, made quiet.
template <typename... From>
double canonical_of(double value, From... operands) {
  if (!std::isnan(value)) {
    return value;
  }
  constexpr std::uint64_t kInvalid = 0xfff8'0000'0000'0000U;
  constexpr std::uint64_t kQuiet = std::uint64_t{1} << 51U;
  std::uint64_t bits = kInvalid;
  ((bits = std::isnan(operands) ? std::bit_cast<std::uint64_t>(operands) | kQuiet : bits), ...);
  return std::bit_cast<double>(bits);
}
template <typename... From>
float canonical_of(float value, From...) {
  return canonical(value);
}

/// The .ftz result of a product or a fused sum. It is also 0 if the exact value is less than the
/// least normal number and was rounded up to that.
inline float flush_tiny(float result, double exact) {
  constexpr double kLeastNormal = 0x1p-126;
  return std::fabs(exact) < kLeastNormal ? std::copysign(0.0F, result) : result;
}
inline float flush_tiny(float result, float a, float b) {
  return flush_tiny(result, static_cast<double>(a) * static_cast<double>(b));
}
inline float flush_tiny_quotient(float result, float a, float b) {
  return flush_tiny(result, static_cast<double>(a) / static_cast<double>(b));
}
inline float flush_tiny(float result, float a, float b, float c) {
  return flush_tiny(
      result, odd_sum(static_cast<double>(a) * static_cast<double>(b), static_cast<double>(c)));
}

using FloatAdd = std::plus<>;
using FloatSub = std::minus<>;
using FloatMul = std::multiplies<>;
using FloatDiv = std::divides<>;
using FloatNegate = std::negate<>;
struct FusedMultiplyAdd {
  template <typename T>
  T operator()(T a, T b, T c) const {
    return std::fma(a, b, c);
  }
};
struct Reciprocal {
  template <typename T>
  T operator()(T a) const {
    return T{1} / a;
  }
};
struct SquareRoot {
  template <typename T>
  T operator()(T a) const {
    return std::sqrt(a);
  }
};
struct FloatAbsolute {
  template <typename T>
  T operator()(T a) const {
    return std::fabs(a);
  }
};
/// F's result. A NaN is taken from the last operand that is one; for a quotient, from the first
/// one; for a fused sum, from the second factor, else the summand, else the first factor.
template <typename F, typename... T>
auto canonical_result(T... values) {
  const auto value = F{}(values...);
  if constexpr (std::is_same_v<F, FloatDiv>) {
    return [value](auto a, auto b) { return canonical_of(value, b, a); }(values...);
  } else if constexpr (std::is_same_v<F, FusedMultiplyAdd>) {
    return [value](auto a, auto b, auto c) { return canonical_of(value, a, c, b); }(values...);
  } else {
    return canonical_of(value, values...);
  }
}

/// Prefers a number to a NaN. -0 is less than +0.
struct FloatMinimum {
  template <typename T>
  T operator()(T a, T b) const {
    const bool first = a < b || (a == b && std::signbit(a)) || std::isnan(b);
    return first ? a : b;
  }
};
struct FloatMaximum {
  template <typename T>
  T operator()(T a, T b) const {
    const bool first = a > b || (a == b && !std::signbit(a)) || std::isnan(b);
    return first ? a : b;
  }
};
/// .NaN: a NaN operand is the result.
template <typename F>
struct NanFirst {
  template <typename T>
  T operator()(T a, T b) const {
    return std::isnan(a) ? a : std::isnan(b) ? b : F{}(a, b);
  }
};
/// .xorsign.abs: F of the magnitudes, with the sign of the operands' product.
template <typename F>
struct XorSign {
  template <typename T>
  T operator()(T a, T b) const {
    const T magnitude = F{}(std::fabs(a), std::fabs(b));
    return std::signbit(a) != std::signbit(b) ? -magnitude : magnitude;
  }
};

}  // namespace fatune::emulate
