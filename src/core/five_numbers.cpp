#include "core/five_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace fatune {
namespace {

double quantile_of_sorted(std::span<const double> sorted, double part) {
  const double place = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - std::floor(place));
}

}  // namespace

FiveNumbers five_numbers(std::vector<double> values) {
  std::ranges::sort(values);
  return {values.front(), quantile_of_sorted(values, 0.25), quantile_of_sorted(values, 0.5),
          quantile_of_sorted(values, 0.75), values.back()};
}

}  // namespace fatune
