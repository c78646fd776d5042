#pragma once

#include <optional>
#include <string>

#include "attention/problem.hpp"
#include "core/outcome.hpp"

namespace fatune {

/// Tolerances of the mismatch count, against the 16-bit reference (contract, section 4).
inline constexpr double kMismatchAtol = 1e-5;
inline constexpr double kMismatchRtol = 1e-3;

/// Distance from |value| to the next greater number of the element type.
[[nodiscard]] double unit_in_last_place(double value, DType dtype);

/// The most that an output may differ from the 16-bit reference (the documented rule) and, beyond
/// it, from the fp32 reference, so that an error shared with the 16-bit one is not excused: twice
/// the greatest error of the 16-bit reference, but never less than one unit in the last place of
/// the greatest reference value. A 16-bit output cannot promise less, and the 16-bit reference may
/// be exact by nature, not by merit: with one key O = V, both its roundings change nothing and
/// twice its error is 0. There the rule becomes: O equals V within one unit in the last place.
[[nodiscard]] double error_limit(double max_abs_reference_error, double max_abs_reference,
                                 DType dtype);

/// The most that a row value (row_values.hpp) may differ from the fp32 reference, as a logarithm.
/// `greatest_product`: of the norms of a row of Q and a row of K, so that |q.k| is nowhere more.
/// A bound for right fp32 kernels, reference included: each may have
/// - a score, and a maximum, wrong by d_head + 8 roundings of softmax_scale * greatest_product (its
///   products summed one by one, truncated; scaled, and taken to base 2 or e);
/// - a sum, and so its logarithm, wrong by half a rounding for each key, and by the approximations
///   of exp and log: 32 roundings.
/// A rounding is 2^-23 of the value. docs/measurement.md has it at length.
[[nodiscard]] double row_value_limit(const Problem& problem, double greatest_product);

/// One sentence about the first check that fails, nothing when the output is right. In order:
/// writes outside the tensor, values that are not finite, error beyond the limit. It names outputs
/// beside O; those of which nothing was compared have no error.
[[nodiscard]] std::optional<std::string> find_fault(const ErrorStats& stats);

}  // namespace fatune
