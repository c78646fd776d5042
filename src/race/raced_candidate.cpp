#include "race/raced_candidate.hpp"

#include <algorithm>

namespace fatune {
namespace {

std::vector<double> ratios_of_shared_rounds(const Series& a, const Series& b) {
  std::vector<double> ratios;
  std::size_t j = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    while (j < b.size() && b.rounds()[j] < a.rounds()[i]) {
      ++j;
    }
    if (j < b.size() && b.rounds()[j] == a.rounds()[i]) {
      ratios.push_back(a.taken_us()[i] / b.taken_us()[j]);
    }
  }
  return ratios;
}

constexpr double kNarrowing = 0.9;

std::optional<MedianInterval> interval_of(std::span<const double> sorted, double confidence) {
  if (sorted.empty()) {
    return std::nullopt;
  }
  const MedianInterval interval = median_interval(sorted, confidence);
  return interval.confidence >= confidence ? std::optional(interval) : std::nullopt;
}

}  // namespace

void Series::add(int round, double time_us) {
  rounds_.push_back(round);
  taken_us_.push_back(time_us);
  sorted_us_.insert(std::upper_bound(sorted_us_.begin(), sorted_us_.end(), time_us), time_us);
}

double Series::median_us() const { return median_of_sorted(sorted_us_); }

std::vector<double> paired_ratios(const RacedCandidate& a, const RacedCandidate& b) {
  const bool both_in_finals = !a.finals.empty() && !b.finals.empty();
  const bool both_in_race = !a.race.empty() && !b.race.empty();
  return both_in_finals ? ratios_of_shared_rounds(a.finals, b.finals)
         : both_in_race ? ratios_of_shared_rounds(a.race, b.race)
                        : ratios_of_shared_rounds(a.part, b.part);
}

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
