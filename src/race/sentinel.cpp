#include "race/sentinel.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/statistics.hpp"

namespace fatune {
namespace {

constexpr std::size_t kWindow = 9;
constexpr std::size_t kLeastKnown = 5;
constexpr std::size_t kLeastEnd = 3;

double median_of(std::vector<double> samples_us) {
  std::ranges::sort(samples_us);
  return median_of_sorted(samples_us);
}

}  // namespace

bool Sentinel::is_off(double time_us) const {
  if (taken_us_.size() < kLeastKnown) {
    return false;
  }
  const auto window = static_cast<std::ptrdiff_t>(std::min(kWindow, taken_us_.size()));
  const double usual_us = median_of({taken_us_.end() - window, taken_us_.end()});
  return std::abs(time_us / usual_us - 1.0) > tolerance_;
}

double Sentinel::drift_percent() const {
  if (taken_us_.size() < 2 * kLeastEnd) {
    return 0.0;
  }
  const auto end = static_cast<std::ptrdiff_t>(std::max(kLeastEnd, taken_us_.size() / 4));
  const double first_us = median_of({taken_us_.begin(), taken_us_.begin() + end});
  const double last_us = median_of({taken_us_.end() - end, taken_us_.end()});
  return 100.0 * (last_us / first_us - 1.0);
}

}  // namespace fatune
