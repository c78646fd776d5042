#include "attention/error_rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fatune {
namespace {

std::string mismatch_text(const ErrorStats& stats) {
  return fmt::format("limit {:.3g}; {} of {} values mismatch ({:.2f}%)", stats.limit,
                     stats.mismatched, stats.elements, stats.mismatched_percent());
}

// The comparisons are negated so that NaN fails.
std::optional<std::string> find_error(const std::string& where, const ErrorStats& stats) {
  if (!(stats.max_abs_error <= stats.limit && stats.max_abs_difference <= stats.limit)) {
    return fmt::format("{}greatest error {:.3g} (against the 16-bit reference {:.3g}), {}", where,
                       stats.max_abs_error, stats.max_abs_difference, mismatch_text(stats));
  }
  return std::nullopt;
}

// Any mismatch fails. If only one of value and reference is minus infinity, max_abs_error does not
// show it.
std::optional<std::string> find_row_error(const std::string& where, const ErrorStats& stats) {
  if (!(stats.max_abs_error <= stats.limit) || stats.mismatched > 0) {
    return fmt::format("{}greatest error {:.3g}, {}", where, stats.max_abs_error,
                       mismatch_text(stats));
  }
  return std::nullopt;
}

}  // namespace

double unit_in_last_place(double value, DType dtype) {
  const int fraction_bits = dtype == DType::fp16 ? 10 : 7;
  const int min_exponent = dtype == DType::fp16 ? -14 : -126;
  const int exponent = value == 0.0 ? min_exponent : std::max(std::ilogb(value), min_exponent);
  return std::ldexp(1.0, exponent - fraction_bits);
}

double error_limit(double max_abs_reference_error, double max_abs_reference, DType dtype) {
  return std::max(2 * max_abs_reference_error, unit_in_last_place(max_abs_reference, dtype));
}

double row_value_limit(const Problem& problem, double greatest_product) {
  constexpr double kRounding = 0x1p-23;
  const double greatest_score = static_cast<double>(problem.softmax_scale) * greatest_product;
  const double score = static_cast<double>(problem.d_head + 8) * std::abs(greatest_score);
  const double sum = static_cast<double>(problem.seq_len_kv) / 2 + 32;
  return 2 * kRounding * (2 * score + sum);
}

std::optional<std::string> find_fault(const ErrorStats& stats) {
  const std::string where =
      fmt::format("input {}: {}", stats.input, stats.is_of_o() ? "" : stats.output + ": ");
  if (stats.guard_bytes_changed > 0) {
    return fmt::format("{}wrote {} bytes outside the output tensor", where,
                       stats.guard_bytes_changed);
  }
  if (stats.not_finite > 0) {
    return fmt::format("{}{} output values are NaN, infinite or were never written", where,
                       stats.not_finite);
  }
  return stats.is_of_o() ? find_error(where, stats) : find_row_error(where, stats);
}

}  // namespace fatune
