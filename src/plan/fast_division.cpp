#include "plan/fast_division.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

namespace fatune {
namespace {

constexpr double kGreatestDivisor = 2147483648.0;  // 2^31

}  // namespace

double ceil_log2(double x) {
  if (!(x >= 1.0) || std::isinf(x)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return fraction == 0.5 ? exponent - 1 : exponent;
}

double umulhi_magic(double d) {
  if (!(d >= 1.0) || d > kGreatestDivisor || std::trunc(d) != d) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const auto divisor = static_cast<std::uint64_t>(d);
  const auto shift = static_cast<unsigned>(ceil_log2(d));
  const std::uint64_t power = std::uint64_t{1} << (31 + shift);
  const std::uint64_t magic = (power + divisor - 1) / divisor;
  return divisor == 1 ? 0.0 : static_cast<double>(magic);
}

}  // namespace fatune
