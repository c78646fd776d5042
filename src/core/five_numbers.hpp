#pragma once

#include <vector>

namespace fatune {

/// A summary of a distribution.
struct FiveNumbers {
  double least = 0.0;
  double low_quartile = 0.0;
  double median = 0.0;
  double high_quartile = 0.0;
  double greatest = 0.0;
};

/// Quartiles are interpolated between the two nearest values (type 7 of Hyndman and Fan).
/// Precondition: `values` is not empty.
[[nodiscard]] FiveNumbers five_numbers(std::vector<double> values);

}  // namespace fatune
