#include "plan/tile_sum.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

namespace fatune {

double tile_sum(double count, double first, double step, double width, double most) {
  constexpr double kMostTerms = 16777216.0;  // each costs about a nanosecond
  const auto finite = {count, first, step, width, most};
  if (!std::all_of(finite.begin(), finite.end(), [](double x) { return std::isfinite(x); }) ||
      width <= 0.0 || count < 0.0 || count > kMostTerms) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  double sum = 0.0;
  for (double i = 0.0; i < count; ++i) {
    sum += std::max(0.0, std::min(most, std::ceil((first + i * step) / width)));
  }
  return sum;
}

}  // namespace fatune
