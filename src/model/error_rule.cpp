#include "model/error_rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/cpu_reference.hpp"

namespace fatune {
namespace {

std::string mismatch_text(const ErrorStats& stats) {
  return fmt::format("limit {:.3g}; {} of {} values mismatch ({:.2f}%)", stats.limit,
                     stats.mismatched, stats.elements, stats.mismatched_percent());
}

// The comparisons are negated so that NaN fails.
std::optional<std::string> find_error(const std::string& where, const ErrorStats& stats) {
  if (!(stats.max_abs_error <= stats.limit && stats.max_abs_difference <= stats.limit)) {
    const std::string from_rounded =
        stats.max_abs_difference > 0.0
            ? fmt::format(" (against the 16-bit reference {:.3g})", stats.max_abs_difference)
            : "";
    return fmt::format("{}greatest error {:.3g}{}, {}", where, stats.max_abs_error, from_rounded,
                       mismatch_text(stats));
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

bool is_mismatch(double difference, double rounded) {
  return difference > kMismatchAtol + kMismatchRtol * std::abs(rounded);
}

struct RowCount {
  std::int32_t mismatched = 0;
  std::int32_t beyond_limit = 0;
};

/// Counts the row whose first element is `first`. An element that is not finite is beyond every
/// limit.
RowCount count_row(double limit, const Problem& problem, std::int64_t first,
                   std::span<const std::uint16_t> output, std::span<const double> exact,
                   std::span<const double> rounded, std::span<const double> units) {
  RowCount count;
  const auto begin = static_cast<std::size_t>(first);
  for (std::size_t i = begin; i < begin + static_cast<std::size_t>(problem.d_head_v); ++i) {
    const double value = element_value(output[i], output_dtype(problem));
    const double difference = std::abs(value - rounded[i]);
    const double most = limit * unit_of(units, i);
    const bool within =
        (difference <= most || !limits_difference(problem)) && std::abs(value - exact[i]) <= most;
    count.beyond_limit += within ? 0 : 1;
    count.mismatched += std::isfinite(value) && is_mismatch(difference, rounded[i]) ? 1 : 0;
  }
  return count;
}

}  // namespace

double unit_in_last_place(double value, DType dtype) {
  const int fraction_bits = dtype == DType::fp16 ? 10 : 7;
  const int min_exponent = dtype == DType::fp16 ? -14 : -126;
  const int exponent = value == 0.0 ? min_exponent : std::max(std::ilogb(value), min_exponent);
  return std::ldexp(1.0, exponent - fraction_bits);
}

/// What tensor cores of compute capability 9.0 may cut off a sum of `count` 8-bit products,
/// relative to the greatest sum. An instruction sums 32 of them, and cuts each off behind the 13th
/// place, as well as the sum. Emulated problems lost up to 1.2 units of the 13th place in each
/// instruction.
double eight_bit_product_error(std::int64_t count) {
  constexpr double kUnits = 1.5;
  return kUnits * static_cast<double>(count) / 32 * 0x1p-13;
}

double row_value_limit(const Problem& problem, double greatest_product) {
  constexpr double kRounding = 0x1p-23;
  const double greatest_score = static_cast<double>(problem.softmax_scale) * greatest_product;
  const double score = static_cast<double>(problem.d_head + 8) * std::abs(greatest_score);
  const double sum = static_cast<double>(problem.seq_len_kv) / 2 + 32;
  constexpr double kTanhError = 0x1p-11;
  const double capped = std::min(double{problem.softcap}, std::abs(greatest_score));
  const double few_bits = has_eight_bits(problem.dtype)
                              ? eight_bit_product_error(problem.d_head) * std::abs(greatest_score)
                              : 0.0;
  return 2 * kRounding * (2 * score + sum) + kTanhError * capped + few_bits;
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

ErrorStats compare_outputs(const std::string& input, const Problem& problem,
                           std::span<const std::uint16_t> output, std::span<const double> exact,
                           std::span<const double> rounded, std::span<const double> units) {
  const DType dtype = output_dtype(problem);
  ErrorStats stats;
  stats.input = input;
  stats.elements = static_cast<std::int64_t>(output.size());
  double greatest = 0.0;
  for (std::size_t i = 0; i < output.size(); ++i) {
    const double unit = unit_of(units, i);
    greatest = std::max(greatest, std::abs(exact[i]) / unit);
    stats.max_abs_reference_error =
        std::max(stats.max_abs_reference_error, std::abs(rounded[i] - exact[i]) / unit);
    const double value = element_value(output[i], dtype);
    if (!std::isfinite(value)) {
      ++stats.not_finite;
      continue;
    }
    const double difference = std::abs(value - rounded[i]);
    stats.max_abs_error = std::max(stats.max_abs_error, std::abs(value - exact[i]) / unit);
    if (limits_difference(problem)) {
      stats.max_abs_difference = std::max(stats.max_abs_difference, difference / unit);
    }
    stats.mismatched += is_mismatch(difference, rounded[i]) ? 1 : 0;
  }
  stats.limit = error_limit(stats.max_abs_reference_error, greatest, dtype);
  return stats;
}

RowMismatches compare_rows(const ErrorStats& stats, const Problem& problem,
                           std::span<const std::uint16_t> output, std::span<const double> exact,
                           std::span<const double> rounded, std::span<const double> units) {
  RowMismatches rows;
  rows.input = stats.input;
  const TensorShape shape = tensor_shape(problem, TensorRole::o);
  rows.rows_per_head = shape.rows;
  for (std::int64_t head = 0; head < shape.batch * shape.heads; ++head) {
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      const std::int64_t first = shape.row_offset(head / shape.heads, row, head % shape.heads);
      const RowCount count = count_row(stats.limit, problem, first, output, exact, rounded, units);
      rows.row.push_back(static_cast<std::int32_t>(row));
      rows.mismatched.push_back(count.mismatched);
      rows.beyond_limit.push_back(count.beyond_limit);
    }
  }
  return rows;
}

}  // namespace fatune
