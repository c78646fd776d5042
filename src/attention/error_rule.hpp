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

/// One sentence about the first check that fails, nothing when the output is right. In order:
/// writes outside the tensor, values that are not finite, error beyond the limit.
[[nodiscard]] std::optional<std::string> find_fault(const ErrorStats& stats);

}  // namespace fatune
