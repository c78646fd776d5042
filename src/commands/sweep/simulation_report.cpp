#include "commands/sweep/simulation_report.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/ranges.hpp"
#include "print/run_report.hpp"

namespace fatune {
namespace {

constexpr double kMedianShare = 0.5;
constexpr double kNineOfTen = 0.9;

/// Field::get for the nearest-rank quantile of a member of the replays: the least of the values
/// that `share` of the seeds do not exceed. Absent values are the greatest.
template <typename Value>
auto over_seeds(std::optional<Value> SearchReplay::*member, double share) {
  return [=](const SearchTrial& trial) -> std::optional<Value> {
    constexpr double kNever = std::numeric_limits<double>::infinity();
    std::vector<double> values = mapped(trial.replays, [&](const SearchReplay& one) {
      return one.*member ? static_cast<double>(*(one.*member)) : kNever;
    });
    std::ranges::sort(values);
    const auto place = std::ceil(share * static_cast<double>(values.size()));
    const double value = values.at(static_cast<std::size_t>(std::max(place, 1.0)) - 1);
    return value == kNever ? std::nullopt : std::optional(static_cast<Value>(value));
  };
}

const auto tried_most_seeds = over_seeds(&SearchReplay::tried, kNineOfTen);
const auto ended_close = [](const SearchTrial& t) {
  const auto close = std::ranges::count_if(t.replays, [](const SearchReplay& one) {
    return one.ended_behind_percent.value_or(0.0) <= 100.0 * kCloseToBest;
  });
  return t.replays.front().ended_after ? std::optional(close) : std::nullopt;
};
const auto tried_percent = [](const SearchTrial& t) {
  const auto tried = tried_most_seeds(t);
  return tried ? std::optional(100.0 * static_cast<double>(*tried) / static_cast<double>(t.configs))
               : std::nullopt;
};

}  // namespace

Fields<SearchTrial> search_fields() {
  using T = SearchTrial;
  return {
      {"problem", "problem", kWraps, [](const T& t) { return describe(t.problem); }},
      {"search", "search", [](const T& t) { return enum_name(t.search); }},
      {"configs", "configs", &T::configs},
      {"seeds", "seeds", [](const T& t) { return t.replays.size(); }},
      {"tried_median", "tried", over_seeds(&SearchReplay::tried, kMedianShare)},
      {"tried_9_of_10", "9 of 10", tried_most_seeds},
      {"tried_9_of_10_percent", "% of space", Look{.decimals = 1}, tried_percent},
      {"part", "part", kProgramsOnly, &T::part},
      {"behind_9_of_10_percent", "behind % at 5 %", Look{.decimals = 2},
       over_seeds(&SearchReplay::behind_percent, kNineOfTen)},
      {"ended_after_median", "ended after", over_seeds(&SearchReplay::ended_after, kMedianShare)},
      {"ended_behind_9_of_10_percent", "behind % then", Look{.decimals = 2},
       over_seeds(&SearchReplay::ended_behind_percent, kNineOfTen)},
      {"ended_close", "within 1 %", ended_close},
  };
}

Document search_document(const std::vector<SearchTrial>& trials) {
  return rows_document("search", "trials", search_fields(), trials);
}

}  // namespace fatune
