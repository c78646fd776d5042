#include "model/quantization_error.hpp"

#include <algorithm>
#include <cmath>

#include "model/cpu_reference.hpp"
#include "model/error_rule.hpp"

namespace fatune {

QuantizationSums compare_unrounded(std::span<const std::uint16_t> output, DType dtype,
                                   std::span<const double> unrounded,
                                   std::span<const double> units) {
  QuantizationSums sums;
  for (std::size_t i = 0; i < output.size(); ++i) {
    const double exact = unrounded[i] / unit_of(units, i);
    const double error = std::abs(element_value(output[i], dtype) / unit_of(units, i) - exact);
    if (std::isfinite(error)) {
      sums.squared_error += error * error;
      sums.squared += exact * exact;
      sums.max_abs_error = std::max(sums.max_abs_error, error);
    }
  }
  return sums;
}

void set_quantization_error(const QuantizationSums& sums, ErrorStats& stats) {
  if (sums.squared > 0.0) {
    stats.quantization_rms_percent = 100.0 * std::sqrt(sums.squared_error / sums.squared);
    stats.quantization_max_abs_error = sums.max_abs_error;
  }
}

}  // namespace fatune
