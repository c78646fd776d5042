#include "emulator/values/floats.hpp"

namespace fatune::emulate {
namespace {

/// True if a magnitude is rounded up. `rest` is the part beyond its last place.
bool goes_up(double rest, bool odd, bool negative, Rounding rounding) {
  switch (rounding) {
    case Rounding::nearest:
      return rest > 0.5 || (rest >= 0.5 && odd);
    case Rounding::nearest_away:
      return rest >= 0.5;
    case Rounding::down:
      return negative && rest > 0.0;
    case Rounding::up:
      return !negative && rest > 0.0;
    case Rounding::zero:
      break;
  }
  return false;
}

}  // namespace

std::uint64_t rounded_magnitude(double value, const FloatFormat& format, Rounding rounding) {
  if (std::fpclassify(value) == FP_ZERO) {
    return 0;
  }
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  int exponent = 0;
  (void)std::frexp(value, &exponent);
  exponent = std::max(exponent - 1, 1 - bias);  // subnormals use that of the least normal number
  const double scaled = std::ldexp(std::fabs(value), format.fraction_bits - exponent);
  const double whole = std::floor(scaled);
  auto magnitude = static_cast<std::uint64_t>(whole);
  const bool odd = (magnitude & 1U) != 0;
  magnitude += goes_up(scaled - whole, odd, std::signbit(value), rounding) ? 1U : 0U;
  const auto steps = static_cast<std::uint64_t>(exponent + bias - 1);
  return magnitude + (steps << format.fraction_bits);
}

std::uint32_t narrowed(double value, const FloatFormat& format, Rounding rounding) {
  if (std::isnan(value)) {
    return format.nan();
  }
  const bool negative = std::signbit(value);
  const std::uint32_t sign = negative ? format.sign() : 0;
  if (std::isinf(value)) {
    return sign | format.infinity();
  }
  const std::uint64_t magnitude = rounded_magnitude(value, format, rounding);
  if (magnitude < format.infinity()) {
    return sign | static_cast<std::uint32_t>(magnitude);
  }
  const bool stays_finite =
      rounding == Rounding::zero || rounding == (negative ? Rounding::up : Rounding::down);
  return sign | (stays_finite ? format.infinity() - 1 : format.infinity());
}

double odd_double(std::uint64_t magnitude) {
  constexpr int kBits = 53;
  const int beyond = static_cast<int>(std::bit_width(magnitude)) - kBits;
  if (beyond <= 0) {
    return static_cast<double>(magnitude);
  }
  const std::uint64_t kept = magnitude >> beyond;
  const std::uint64_t lost = magnitude & ((std::uint64_t{1} << beyond) - 1);
  return std::ldexp(static_cast<double>(kept | (lost != 0 ? 1U : 0U)), beyond);
}

}  // namespace fatune::emulate
