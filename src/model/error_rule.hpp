#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "model/outcome.hpp"
#include "model/problem.hpp"

namespace fatune {

/// Tolerances of the mismatch count, relative to the 16-bit reference.
inline constexpr double kMismatchAtol = 1e-5;
inline constexpr double kMismatchRtol = 1e-3;

/// The distance from |value| to the next greater number of the element type, fp16 or bf16.
[[nodiscard]] double unit_in_last_place(double value, DType dtype);

/// The limit for an output's difference from the 16-bit reference (docs/check.md), which is that of
/// 8 bits where Q has 8 bits. `dtype` is the output's, and has 16 bits in any case. The limit also
/// limits the difference from the fp32 reference, so that an error shared with the 16-bit reference
/// is not excused. It is twice the greatest error of the 16-bit reference, but at least one unit in
/// the last place of the greatest reference value. A 16-bit output cannot promise less, and the
/// 16-bit reference may be exact by its nature: with one key O = V, both its roundings change
/// nothing, and twice its error is 0. The rule is then that O equals V within one unit in the last
/// place.
[[nodiscard]] inline double error_limit(double max_abs_reference_error, double max_abs_reference,
                                        DType dtype) {
  return std::max(2 * max_abs_reference_error, unit_in_last_place(max_abs_reference, dtype));
}

/// The limit for the difference of a row value (cpu_reference.hpp), as a logarithm, from the fp32
/// reference. `greatest_product` is the greatest product of the norms of a row of Q and a row of K,
/// so no |q.k| exceeds it. The limit holds for all correct fp32 kernels, the reference included.
/// Each may have
/// - a score, and a maximum, wrong by d_head + 8 roundings of softmax_scale * greatest_product (its
///   products summed one by one, truncated; scaled, and taken to base 2 or e);
/// - a capped score wrong by 2^-11 of itself: what tanh.approx promises;
/// - a sum, and so its logarithm, wrong by half a rounding for each key, and by the approximations
///   of exp and log: 32 roundings.
/// A rounding is 2^-23 of the value. docs/measurement.md explains this in full.
[[nodiscard]] double row_value_limit(const Problem& problem, double greatest_product);

/// Returns one sentence about the first check that fails; nothing if the output is right. The order
/// of checks: writes outside the tensor, values that are not finite, error beyond the limit. The
/// sentence names outputs other than O. An output of which nothing was compared has no error.
[[nodiscard]] std::optional<std::string> find_fault(const ErrorStats& stats);

/// Whether an output's difference from the rounded reference is limited too. It is not where Q has
/// 8 bits: tensor cores sum their products with few bits, and a probability that this takes across
/// the middle between two elements is rounded by up to a sixteenth the other way, as right as the
/// reference's.
[[nodiscard]] inline bool limits_difference(const Problem& problem) {
  return !has_eight_bits(problem.dtype);
}

/// Compares an output with both references on the CPU, as kernels/reference/check_output.cuh does
/// on a GPU. Values that are not finite are counted and not compared.
/// Errors are in units of columns, as references are that the limit follows from.
/// shape: output, exact and rounded: the same elements in the same order; those of the problem's O,
///        or some of its rows; units: column_units()
[[nodiscard]] ErrorStats compare_outputs(const std::string& input, const Problem& problem,
                                         std::span<const std::uint16_t> output,
                                         std::span<const double> exact,
                                         std::span<const double> rounded,
                                         std::span<const double> units = {});

/// Counts the elements of each row of such an output that are beyond `stats.limit`, and those that
/// mismatch.
/// shape: output, exact and rounded: that of O; units: column_units()
[[nodiscard]] RowMismatches compare_rows(const ErrorStats& stats, const Problem& problem,
                                         std::span<const std::uint16_t> output,
                                         std::span<const double> exact,
                                         std::span<const double> rounded,
                                         std::span<const double> units = {});

/// What errors of an element of O are divided by. units: column_units()
[[nodiscard]] inline double unit_of(std::span<const double> units, std::size_t element) {
  return units.empty() ? 1.0 : units[element % units.size()];
}

}  // namespace fatune
