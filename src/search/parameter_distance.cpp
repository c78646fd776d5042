#include "search/parameter_distance.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace fatune {

ParameterDistance::ParameterDistance(const std::vector<SearchPoint>& points) {
  for (const SearchPoint& point : points) {
    const std::vector<ParamValue>& values = point.config.values;
    std::vector<Range>& ranges = ranges_[point.config.family];
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i == ranges.size()) {
        ranges.push_back({values[i], values[i]});
      }
      ranges[i].least = std::min(ranges[i].least, values[i]);
      ranges[i].greatest = std::max(ranges[i].greatest, values[i]);
    }
  }
}

double ParameterDistance::operator()(const Config& a, const Config& b) const {
  const std::vector<Range>& ranges = ranges_.at(a.family);
  if (a.family != b.family) {
    return static_cast<double>(ranges.size() + b.values.size());
  }
  double distance = 0.0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const auto range = static_cast<double>(ranges[i].greatest - ranges[i].least);
    const auto apart = static_cast<double>(a.values[i] - b.values[i]);
    distance += range > 0.0 ? std::abs(apart) / range : 0.0;
  }
  return distance;
}

}  // namespace fatune
