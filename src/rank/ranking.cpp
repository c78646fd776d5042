#include "rank/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "core/outcome.hpp"

namespace fatune {
namespace {

bool is_usable(double time_us) { return std::isfinite(time_us) && time_us > 0.0; }

/// The time by which results are ordered; an invalid time counts as infinite.
double sort_key_us(const Result& result) {
  const double time_us = ranked_us(result.outcome);
  return is_usable(time_us) ? time_us : std::numeric_limits<double>::infinity();
}

bool is_better(const Result& a, const Result& b) {
  const double a_us = sort_key_us(a);
  const double b_us = sort_key_us(b);
  return a_us != b_us ? a_us < b_us : a.config < b.config;
}

struct Interval {
  double low_us;
  double high_us;
};

Interval interval_of(const Result& result) {
  if (const auto* measured = std::get_if<Measured>(&result.outcome)) {
    const Timing& timing = measured->timing;
    return timing.median_high_us > 0.0 ? Interval{timing.median_low_us, timing.median_high_us}
                                       : Interval{timing.median_us, timing.median_us};
  }
  const double time_us = ranked_us(result.outcome);
  return {time_us, time_us * (1.0 + kEstimateResolution)};
}

bool overlap(const Result& a, const Result& b) {
  const Interval x = interval_of(a);
  const Interval y = interval_of(b);
  return x.low_us <= y.high_us && y.low_us <= x.high_us;
}

/// Precondition: `results` are ordered.
void number_groups(std::vector<Result>& results) {
  const Result* best_of_group = nullptr;
  int group = 0;
  for (Result& result : results) {
    if (best_of_group == nullptr || !overlap(*best_of_group, result)) {
      best_of_group = &result;
      ++group;
    }
    result.tie_group = group;
  }
}

bool was_raced(const std::vector<Result>& results) {
  return std::ranges::all_of(
      results, [](const Result& result) { return result.rank > 0 && result.tie_group > 0; });
}

bool is_ahead(const Result& a, const Result& b) {
  return a.rank != b.rank ? a.rank < b.rank : a.config < b.config;
}

/// Numbers the groups from 1 and keeps their borders. Precondition: `results` are ordered.
void renumber_groups(std::vector<Result>& results) {
  int group = 0;
  int former = 0;
  for (Result& result : results) {
    group += static_cast<int>(std::exchange(former, result.tie_group) != result.tie_group);
    result.tie_group = group;
  }
}

void number_ranks(std::vector<Result>& results) {
  int rank = 0;
  for (Result& result : results) {
    result.rank = ++rank;
  }
}

double baseline_us(const std::vector<Result>& results, const std::optional<Config>& baseline) {
  const auto chosen = std::ranges::find_if(
      results, [&](const Result& result) { return baseline && result.config == *baseline; });
  return ranked_us((chosen == results.end() ? results.front() : *chosen).outcome);
}

void fill_relative(std::vector<Result>& results, double reference_us) {
  for (Result& result : results) {
    const double time_us = ranked_us(result.outcome);
    const bool usable = is_usable(time_us) && is_usable(reference_us);
    result.relative_percent = usable ? 100.0 * reference_us / time_us : 0.0;
  }
}

}  // namespace

void rank_results(std::vector<Result>& results, const std::optional<Config>& baseline) {
  if (results.empty()) {
    return;
  }
  const bool raced = was_raced(results);
  std::ranges::stable_sort(results, raced ? is_ahead : is_better);
  number_ranks(results);
  raced ? renumber_groups(results) : number_groups(results);
  fill_relative(results, baseline_us(results, baseline));
}

void sort_into_report(std::vector<Result> results, const std::optional<Config>& baseline,
                      ProblemReport& report) {
  const auto failures =
      std::stable_partition(results.begin(), results.end(),
                            [](const Result& result) { return is_ranked(result.outcome); });
  report.failures.assign(std::make_move_iterator(failures), std::make_move_iterator(results.end()));
  results.erase(failures, results.end());
  report.ranking = std::move(results);
  std::ranges::stable_sort(report.failures,
                           [](const Result& a, const Result& b) { return a.config < b.config; });
  rank_results(report.ranking, baseline);
}

}  // namespace fatune
