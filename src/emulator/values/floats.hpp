#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <type_traits>

// Floating-point numbers: their formats and rounding, and the results of instructions (PTX ISA 9.0,
// section 9.7.3). NaNs are those of an H200 (tests/recorded).
namespace fatune::emulate {

/// .rn, .rz, .rm and .rp (PTX ISA 9.0, section 9.7.3), and .rna of cvt: to nearest, ties away from
/// zero.
enum class Rounding : std::uint8_t { nearest, zero, down, up, nearest_away };

/// A binary floating-point format of at most 32 bits with IEEE 754's layout and bias.
struct FloatFormat {
  int exponent_bits = 8;
  int fraction_bits = 23;

  [[nodiscard]] constexpr std::uint32_t infinity() const {
    return ((1U << exponent_bits) - 1) << fraction_bits;
  }
  [[nodiscard]] constexpr std::uint32_t sign() const {
    return 1U << (exponent_bits + fraction_bits);
  }
  /// The NaN that arithmetic returns: all ones except for the sign.
  [[nodiscard]] constexpr std::uint32_t nan() const { return sign() - 1; }
};

inline constexpr FloatFormat kHalfFormat{5, 10};
inline constexpr FloatFormat kBfloatFormat{8, 7};
inline constexpr FloatFormat kTf32Format{8, 10};
inline constexpr FloatFormat kSingleFormat{8, 23};
inline constexpr FloatFormat kE4m3Format{4, 3};
inline constexpr FloatFormat kE5m2Format{5, 2};

/// The bits without the sign of a finite value, rounded to the format as if its exponents were
/// unbounded. From `format.infinity()` on, the result is beyond the format's greatest number.
[[nodiscard]] std::uint64_t rounded_magnitude(double value, const FloatFormat& format,
                                              Rounding rounding);

/// The bits of a value in the format. Beyond the format's greatest number, the rounding decides
/// between that number and infinity.
[[nodiscard]] std::uint32_t narrowed(double value, const FloatFormat& format, Rounding rounding);

/// a + b, where an inexact result has an odd last bit. Rounding it again, to a format with at most
/// half of double's precision, gives the same as rounding once.
/// source: Boldo & Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using
/// rounding to odd" (2008)
[[nodiscard]] inline double odd_sum(double a, double b) {
  const double sum = a + b;
  const double other = sum - a;
  const double error = (a - (sum - other)) + (b - other);
  const auto bits = std::bit_cast<std::uint64_t>(sum);
  if (!(std::fabs(error) > 0.0) || (bits & 1U) != 0) {  // exact, a NaN, or odd already
    return sum;
  }
  return std::bit_cast<double>((error > 0.0) == (sum > 0.0) ? bits + 1 : bits - 1);
}

/// An integer truncated to 53 significant bits. The last one is odd if nonzero bits were cut off.
[[nodiscard]] double odd_double(std::uint64_t magnitude);

// --- Conversions between the bits of 16-bit floating point and single precision ---

inline float from_half(std::uint16_t bits) {
  // The shifted bits are a float with 13 more fraction bits and an exponent that is 112 too small.
  // Multiplying by 2^112 corrects it, also for subnormals.
  const std::uint32_t magnitude = static_cast<std::uint32_t>(bits & 0x7fffU) << 13U;
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16U;
  const float scaled = std::bit_cast<float>(magnitude) * 0x1p112F;
  const std::uint32_t special = magnitude >= 0x0f800000U ? 0x7f800000U : 0U;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | sign | special);
}

inline float from_bfloat(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

/// Rounds to nearest, ties to even.
inline std::uint16_t to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16U & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) {
    return 0x7fff;  // the NaN that cvt returns
  }
  if (magnitude >= 0x477ff000U) {  // 65520 and above
    return sign | 0x7c00U;
  }
  if (magnitude < 0x38800000U) {  // below the least normal number: the addition rounds
    const float aligned = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(aligned) - 0x3f000000U));
  }
  const std::uint32_t odd = magnitude >> 13U & 1U;
  return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000U + 0xfffU + odd) >> 13U));
}

/// Rounds to nearest, ties to even.
inline std::uint16_t to_bfloat(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) {
    return 0x7fff;
  }
  return static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16U & 1U)) >> 16U);
}

/// The .ftz modifier in single precision: subnormal inputs and results become zero and keep their
/// sign.
inline float flush_subnormal(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return (bits & 0x7f800000U) == 0 ? std::bit_cast<float>(bits & 0x80000000U) : value;
}

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
  constexpr std::uint64_t kQuiet = std::uint64_t{1} << 51U;
  std::uint64_t bits = 0xfff8'0000'0000'0000U;
  ((bits = std::isnan(operands) ? std::bit_cast<std::uint64_t>(operands) | kQuiet : bits), ...);
  return std::bit_cast<double>(bits);
}
template <typename... From>
float canonical_of(float value, From...) {
  return canonical(value);
}

/// .sat: clamps to [0, 1], where a NaN becomes 0. .relu: negative values become 0.
inline double limited(double value, bool saturates, bool rectifies) {
  if (saturates) {
    return value > 0.0 ? std::min(value, 1.0) : 0.0;
  }
  return rectifies && value <= 0.0 ? 0.0 : value;
}

/// The .ftz result of a product or a fused sum. It is also 0 if the exact value is less than the
/// least normal number and was rounded up to that.
inline float flush_tiny(float result, double exact) {
  return std::fabs(exact) < 0x1p-126 ? std::copysign(0.0F, result) : result;
}
inline float flush_tiny(float result, float a, float b) {
  return flush_tiny(result, static_cast<double>(a) * static_cast<double>(b));
}
inline float flush_tiny(float result, float a, float b, float c) {
  return flush_tiny(
      result, odd_sum(static_cast<double>(a) * static_cast<double>(b), static_cast<double>(c)));
}
inline float flush_tiny_quotient(float result, float a, float b) {
  return flush_tiny(result, static_cast<double>(a) / static_cast<double>(b));
}

struct FusedMultiplyAdd {
  auto operator()(auto a, auto b, auto c) const { return std::fma(a, b, c); }
};
struct Reciprocal {
  auto operator()(auto a) const { return decltype(a){1} / a; }
};
struct SquareRoot {
  auto operator()(auto a) const { return std::sqrt(a); }
};
struct FloatAbsolute {
  auto operator()(auto a) const { return std::fabs(a); }
};

/// F's result. A NaN is taken from the last operand that is one; for a quotient, from the first
/// one; for a fused sum, from the second factor, else the summand, else the first factor.
template <typename F, typename... T>
auto canonical_result(T... values) {
  const auto value = F{}(values...);
  if constexpr (std::is_same_v<F, std::divides<>>) {
    return [value](auto a, auto b) { return canonical_of(value, b, a); }(values...);
  } else if constexpr (std::is_same_v<F, FusedMultiplyAdd>) {
    return [value](auto a, auto b, auto c) { return canonical_of(value, a, c, b); }(values...);
  } else {
    return canonical_of(value, values...);
  }
}

/// Prefers a number to a NaN. -0 is less than +0.
struct FloatMinimum {
  auto operator()(auto a, auto b) const {
    return a < b || (a == b && std::signbit(a)) || std::isnan(b) ? a : b;
  }
};
struct FloatMaximum {
  auto operator()(auto a, auto b) const {
    return a > b || (a == b && !std::signbit(a)) || std::isnan(b) ? a : b;
  }
};
/// .NaN: a NaN operand is the result.
template <typename F>
struct NanFirst {
  auto operator()(auto a, auto b) const {
    return std::isnan(a) ? a : std::isnan(b) ? b : F{}(a, b);
  }
};
/// .xorsign.abs: F of the magnitudes, with the sign of the operands' product.
template <typename F>
struct XorSign {
  auto operator()(auto a, auto b) const {
    const auto magnitude = F{}(std::fabs(a), std::fabs(b));
    return std::signbit(a) != std::signbit(b) ? -magnitude : magnitude;
  }
};

}  // namespace fatune::emulate
