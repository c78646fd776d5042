#pragma once

namespace fatune {

// Constants with which kernels divide 32-bit integers by multiplying: for 0 <= n < 2^31 and d > 1,
//
//   n / d == __umulhi(n, umulhi_magic(d)) >> (ceil_log2(d) - 1)
//
// since umulhi_magic(d) = ceil(2^(31 + ceil_log2(d)) / d) lies in [2^31, 2^32), and is too large by
// less than one part in 2^31. For d = 1 there is no such shift: the quotient is n itself, and
// umulhi_magic(1) is 0. Source: Granlund and Montgomery, Division by Invariant Integers using
// Multiplication, PLDI 1994.

/// The smallest n with 2^n >= x. NaN unless x is at least 1.
[[nodiscard]] double ceil_log2(double x);
/// NaN unless d is a whole number from 1 to 2^31.
[[nodiscard]] double umulhi_magic(double d);

}  // namespace fatune
