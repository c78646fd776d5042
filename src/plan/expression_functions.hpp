#pragma once

#include <string>

namespace mu {
class Parser;
}

// The functions that expressions may call, on IEEE doubles.
namespace fatune {

void define_functions(mu::Parser& parser);

/// "min, max, ceil_div, ...": for messages.
[[nodiscard]] std::string function_names();

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

/// The sum over i = 0, 1, ... count - 1 of ceil((first + i * step) / width), each term at least 0
/// and at most `most`: how many tiles of `width` keys a kernel's blocks of queries reach in all,
/// when block i sees the keys before first + i * step.
/// NaN unless all are finite, width is positive, and count is from 0 to 2^24.
[[nodiscard]] double tile_sum(double count, double first, double step, double width, double most);

}  // namespace fatune
