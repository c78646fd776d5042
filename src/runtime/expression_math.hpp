// The operators and functions of the expressions in family.json, on IEEE doubles. A comparison with
// a value that is not finite (a division by zero) is neither true nor false: it is NaN, and so is
// everything computed from it. As exceptions, `&&` with a false operand is false and `||` with a
// true operand is true, so that `b != 0 && a / b > 2` can be written.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>

namespace fatune_attention::math {

inline constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <typename Compare>
double compared(double a, double b) {
  return !std::isfinite(a) || !std::isfinite(b) ? kNoNumber : Compare()(a, b) ? 1.0 : 0.0;
}
inline double less(double a, double b) { return compared<std::less<>>(a, b); }
inline double less_equal(double a, double b) { return compared<std::less_equal<>>(a, b); }
inline double greater(double a, double b) { return compared<std::greater<>>(a, b); }
inline double greater_equal(double a, double b) { return compared<std::greater_equal<>>(a, b); }
inline double equal(double a, double b) { return compared<std::equal_to<>>(a, b); }
inline double not_equal(double a, double b) { return compared<std::not_equal_to<>>(a, b); }

inline double both(double a, double b) {
  if (a == 0.0 || b == 0.0) {
    return 0.0;
  }
  return std::isnan(a) || std::isnan(b) ? kNoNumber : 1.0;
}
inline double either(double a, double b) {
  const bool a_true = !std::isnan(a) && a != 0.0;
  const bool b_true = !std::isnan(b) && b != 0.0;
  if (a_true || b_true) {
    return 1.0;
  }
  return std::isnan(a) || std::isnan(b) ? kNoNumber : 0.0;
}
inline double logical_not(double a) { return std::isnan(a) ? kNoNumber : a == 0.0 ? 1.0 : 0.0; }
/// `condition ? a : b`.
inline double conditional(double condition, double a, double b) {
  return std::isnan(condition) ? kNoNumber : condition != 0.0 ? a : b;
}

/// Whether a condition is known to hold.
inline bool holds(double condition) { return !std::isnan(condition) && condition != 0.0; }

inline double remainder_of(double a, double b) { return std::fmod(a, b); }
/// Unlike std::pow, NaN if either is NaN.
inline double power(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? kNoNumber : std::pow(a, b);
}
inline double floor_of(double a) { return std::floor(a); }
inline double ceil_div(double a, double b) { return std::ceil(a / b); }
inline double round_up(double a, double b) { return std::ceil(a / b) * b; }

/// NaN unless all values are finite.
inline double least(double a, double b) {
  return std::isfinite(a) && std::isfinite(b) ? std::min(a, b) : kNoNumber;
}
inline double greatest(double a, double b) {
  return std::isfinite(a) && std::isfinite(b) ? std::max(a, b) : kNoNumber;
}
inline double least(double a) { return least(a, a); }
inline double greatest(double a) { return greatest(a, a); }
template <typename... More>
double least(double a, double b, double c, More... more) {
  return least(least(a, b), c, more...);
}
template <typename... More>
double greatest(double a, double b, double c, More... more) {
  return greatest(greatest(a, b), c, more...);
}

inline double is_pow2(double a) {
  int exponent = 0;
  if (!std::isfinite(a)) {
    return kNoNumber;
  }
  return a >= 1.0 && std::frexp(a, &exponent) == 0.5 ? 1.0 : 0.0;
}

// Constants with which kernels divide 32-bit integers by multiplying: for 0 <= n < 2^31 and d > 1,
//
//   n / d == __umulhi(n, umulhi_magic(d)) >> (ceil_log2(d) - 1)
//
// since umulhi_magic(d) = ceil(2^(31 + ceil_log2(d)) / d) lies in [2^31, 2^32), and is too large by
// less than one part in 2^31. For d = 1 there is no such shift: the quotient is n itself, and
// umulhi_magic(1) is 0. Source: Granlund and Montgomery, Division by Invariant Integers using
// Multiplication, PLDI 1994.

/// The smallest n with 2^n >= x. NaN unless x is at least 1.
inline double ceil_log2(double x) {
  if (!(x >= 1.0) || std::isinf(x)) {
    return kNoNumber;
  }
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return fraction == 0.5 ? exponent - 1 : exponent;
}

/// Returns NaN unless d is a whole number from 1 to 2^31.
inline double umulhi_magic(double d) {
  constexpr double kGreatestDivisor = 2147483648.0;  // 2^31
  if (!(d >= 1.0) || d > kGreatestDivisor || std::trunc(d) != d) {
    return kNoNumber;
  }
  const auto divisor = static_cast<std::uint64_t>(d);
  const auto shift = static_cast<unsigned>(ceil_log2(d));
  const std::uint64_t power = std::uint64_t{1} << (31 + shift);
  const std::uint64_t magic = (power + divisor - 1) / divisor;
  return divisor == 1 ? 0.0 : static_cast<double>(magic);
}

/// The sum over i = 0, 1, ... count - 1 of ceil((first + i * step) / width), where each term is at
/// least 0 and at most `most`. It is the total number of tiles of `width` keys that a kernel's
/// blocks of queries reach if block i sees the keys before first + i * step. Returns NaN unless all
/// arguments are finite, width is positive, and count is from 0 to 2^24.
inline double tile_sum(double count, double first, double step, double width, double most) {
  constexpr double kMostTerms = 16777216.0;  // each costs about a nanosecond
  for (const double x : {count, first, step, width, most}) {
    if (!std::isfinite(x)) {
      return kNoNumber;
    }
  }
  if (width <= 0.0 || count < 0.0 || count > kMostTerms) {
    return kNoNumber;
  }
  double sum = 0.0;
  for (double i = 0.0; i < count; ++i) {
    sum += std::max(0.0, std::min(most, std::ceil((first + i * step) / width)));
  }
  return sum;
}

}  // namespace fatune_attention::math
