#include "core/tightest_input.hpp"

#include <algorithm>
#include <limits>

namespace fatune {

const ErrorStats& tightest_input(const std::vector<ErrorStats>& inputs) {
  const auto slack = [](const ErrorStats& stats) {
    return stats.is_of_o() ? stats.limit - std::max(stats.max_abs_error, stats.max_abs_difference)
                           : std::numeric_limits<double>::infinity();
  };
  return *std::ranges::min_element(
      inputs, [&](const ErrorStats& a, const ErrorStats& b) { return slack(a) < slack(b); });
}

}  // namespace fatune
