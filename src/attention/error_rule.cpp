#include "attention/error_rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fatune {

double unit_in_last_place(double value, DType dtype) {
  const int fraction_bits = dtype == DType::fp16 ? 10 : 7;
  const int min_exponent = dtype == DType::fp16 ? -14 : -126;
  const int exponent = value == 0.0 ? min_exponent : std::max(std::ilogb(value), min_exponent);
  return std::ldexp(1.0, exponent - fraction_bits);
}

double error_limit(double max_abs_reference_error, double max_abs_reference, DType dtype) {
  return std::max(2 * max_abs_reference_error, unit_in_last_place(max_abs_reference, dtype));
}

std::optional<std::string> find_fault(const ErrorStats& stats) {
  if (stats.guard_bytes_changed > 0) {
    return fmt::format("input {}: wrote {} bytes outside the output tensor", stats.input,
                       stats.guard_bytes_changed);
  }
  if (stats.not_finite > 0) {
    return fmt::format("input {}: {} output values are NaN, infinite or were never written",
                       stats.input, stats.not_finite);
  }
  // Negated, so that NaN fails.
  if (!(stats.max_abs_error <= stats.limit && stats.max_abs_difference <= stats.limit)) {
    return fmt::format(
        "input {}: greatest error {:.3g} (against the 16-bit reference {:.3g}), limit {:.3g}; "
        "{} of {} values mismatch ({:.2f}%)",
        stats.input, stats.max_abs_error, stats.max_abs_difference, stats.limit, stats.mismatched,
        stats.elements, stats.mismatched_percent());
  }
  return std::nullopt;
}

}  // namespace fatune
