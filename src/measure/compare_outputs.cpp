#include "measure/compare_outputs.hpp"

#include <algorithm>
#include <cmath>

#include "measure/cpu_reference.hpp"
#include "measure/error_rule.hpp"

namespace fatune {

ErrorStats compare_outputs(const std::string& input, DType dtype,
                           std::span<const std::uint16_t> output, std::span<const double> exact,
                           std::span<const double> rounded) {
  ErrorStats stats;
  stats.input = input;
  stats.elements = static_cast<std::int64_t>(output.size());
  double greatest = 0.0;
  for (std::size_t i = 0; i < output.size(); ++i) {
    greatest = std::max(greatest, std::abs(exact[i]));
    stats.max_abs_reference_error =
        std::max(stats.max_abs_reference_error, std::abs(rounded[i] - exact[i]));
    const double value = element_value(output[i], dtype);
    if (!std::isfinite(value)) {
      ++stats.not_finite;
      continue;
    }
    const double difference = std::abs(value - rounded[i]);
    stats.max_abs_error = std::max(stats.max_abs_error, std::abs(value - exact[i]));
    stats.max_abs_difference = std::max(stats.max_abs_difference, difference);
    stats.mismatched += difference > kMismatchAtol + kMismatchRtol * std::abs(rounded[i]) ? 1 : 0;
  }
  stats.limit = error_limit(stats.max_abs_reference_error, greatest, dtype);
  return stats;
}

}  // namespace fatune
