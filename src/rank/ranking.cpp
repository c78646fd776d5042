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

/// The time by which entries are ordered; an invalid time counts as infinite.
double sort_key_us(const Entry& entry) {
  const double time_us = ranked_us(entry.outcome);
  return is_usable(time_us) ? time_us : std::numeric_limits<double>::infinity();
}

bool is_better(const Entry& a, const Entry& b) {
  const double a_us = sort_key_us(a);
  const double b_us = sort_key_us(b);
  return a_us != b_us ? a_us < b_us : a.config < b.config;
}

struct Interval {
  double low_us;
  double high_us;
};

Interval interval_of(const Entry& entry) {
  if (const auto* measured = std::get_if<Measured>(&entry.outcome)) {
    return {measured->timing.median_low_us, measured->timing.median_high_us};
  }
  const double time_us = ranked_us(entry.outcome);
  return {time_us, time_us * (1.0 + kEstimateResolution)};
}

bool overlap(const Entry& a, const Entry& b) {
  const Interval x = interval_of(a);
  const Interval y = interval_of(b);
  return x.low_us <= y.high_us && y.low_us <= x.high_us;
}

/// Precondition: ordered.
void number_groups(std::vector<Entry>& entries) {
  const Entry* best_of_group = nullptr;
  int group = 0;
  for (Entry& entry : entries) {
    if (best_of_group == nullptr || !overlap(*best_of_group, entry)) {
      best_of_group = &entry;
      ++group;
    }
    entry.tie_group = group;
  }
}

bool was_raced(const std::vector<Entry>& entries) {
  return std::all_of(entries.begin(), entries.end(),
                     [](const Entry& entry) { return entry.rank > 0 && entry.tie_group > 0; });
}

bool is_ahead(const Entry& a, const Entry& b) {
  return a.rank != b.rank ? a.rank < b.rank : a.config < b.config;
}

/// Precondition: ordered. Groups keep their borders.
void renumber_groups(std::vector<Entry>& entries) {
  int group = 0;
  int former = 0;
  for (Entry& entry : entries) {
    group += static_cast<int>(std::exchange(former, entry.tie_group) != entry.tie_group);
    entry.tie_group = group;
  }
}

void number_ranks(std::vector<Entry>& entries) {
  int rank = 0;
  for (Entry& entry : entries) {
    entry.rank = ++rank;
  }
}

double baseline_us(const std::vector<Entry>& entries, const std::optional<Config>& baseline) {
  const auto chosen = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) {
    return baseline && entry.config == *baseline;
  });
  return ranked_us((chosen == entries.end() ? entries.front() : *chosen).outcome);
}

void fill_relative(std::vector<Entry>& entries, double reference_us) {
  for (Entry& entry : entries) {
    const double time_us = ranked_us(entry.outcome);
    const bool usable = is_usable(time_us) && is_usable(reference_us);
    entry.relative_percent = usable ? 100.0 * reference_us / time_us : 0.0;
  }
}

}  // namespace

void rank_entries(std::vector<Entry>& entries, const std::optional<Config>& baseline) {
  if (entries.empty()) {
    return;
  }
  const bool raced = was_raced(entries);
  std::stable_sort(entries.begin(), entries.end(), raced ? is_ahead : is_better);
  number_ranks(entries);
  raced ? renumber_groups(entries) : number_groups(entries);
  fill_relative(entries, baseline_us(entries, baseline));
}

void sort_into_report(std::vector<Entry> entries, const std::optional<Config>& baseline,
                      ProblemReport& report) {
  const auto failures = std::stable_partition(
      entries.begin(), entries.end(), [](const Entry& entry) { return is_ranked(entry.outcome); });
  report.failures.assign(std::make_move_iterator(failures), std::make_move_iterator(entries.end()));
  entries.erase(failures, entries.end());
  report.ranking = std::move(entries);
  std::stable_sort(report.failures.begin(), report.failures.end(),
                   [](const Entry& a, const Entry& b) { return a.config < b.config; });
  rank_entries(report.ranking, baseline);
}

}  // namespace fatune
