#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

// Rounding of results to a narrower format.
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

/// Sets the rounding mode of arithmetic during its lifetime. Only for files that are compiled with
/// -frounding-math: see CMakeLists.txt.
class RoundingScope {
 public:
  explicit RoundingScope(Rounding rounding);
  ~RoundingScope();
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

 private:
  int before_;
};

}  // namespace fatune::emulate
