#include "race/precision.hpp"

#include <algorithm>
#include <cstddef>

namespace fatune {
namespace {

constexpr double kNarrowing = 0.9;

std::optional<MedianInterval> interval_of(std::span<const double> sorted, double confidence) {
  if (sorted.empty()) {
    return std::nullopt;
  }
  const MedianInterval interval = median_interval(sorted, confidence);
  return interval.confidence >= confidence ? std::optional(interval) : std::nullopt;
}

}  // namespace

std::optional<double> relative_half_width(const Series& series, double confidence) {
  const auto interval = interval_of(series.sorted_us(), confidence);
  if (!interval) {
    return std::nullopt;
  }
  return (interval->high - interval->low) / (2.0 * series.median_us());
}

bool stopped_narrowing(const Series& series, double confidence) {
  Series first_half;
  for (std::size_t i = 0; i < series.size() / 2; ++i) {
    first_half.add(series.rounds()[i], series.taken_us()[i]);
  }
  const auto before = relative_half_width(first_half, confidence);
  const auto now = relative_half_width(series, confidence);
  return before && now && *now > kNarrowing * *before;
}

std::optional<MedianInterval> ratio_interval(const RacedCandidate& a, const RacedCandidate& b,
                                             double confidence) {
  std::vector<double> ratios = paired_ratios(a, b);
  std::ranges::sort(ratios);
  return interval_of(ratios, confidence);
}

}  // namespace fatune
