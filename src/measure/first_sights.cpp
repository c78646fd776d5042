#include "measure/first_sights.hpp"

#include <algorithm>

namespace fatune {
namespace {

// Fewer later times tell nothing.
constexpr std::size_t kLeastLater = 3;

}  // namespace

void FirstSights::add(int set, double us) {
  std::optional<double>& first = first_us_.at(static_cast<std::size_t>(set));
  if (first) {
    later_us_.push_back(us);
  } else {
    first = us;
  }
}

bool FirstSights::suspicious() const {
  const bool all_seen =
      std::ranges::all_of(first_us_, [](const auto& first) { return first.has_value(); });
  if (cleared_ || !all_seen || later_us_.size() < kLeastLater) {
    return false;
  }
  std::vector<double> later = later_us_;
  const auto middle = later.begin() + static_cast<std::ptrdiff_t>(later.size() / 2);
  std::nth_element(later.begin(), middle, later.end());
  return **std::ranges::min_element(first_us_) > kRememberingRatio * *middle;
}

}  // namespace fatune
