#include "emit/list_reports.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/ranges.hpp"

namespace fatune {
namespace {

/// The nearest-rank quantile: the least of the values that `share` of the seeds do not exceed.
double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  const auto last = static_cast<double>(values.size());
  const auto place = static_cast<std::size_t>(std::ceil(share * last));
  return values.at(std::max<std::size_t>(place, 1) - 1);
}

constexpr double kMedianShare = 0.5;
constexpr double kMostSeeds = 0.9;

std::optional<std::size_t> tried(const SearchTrial& trial, double share) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const double tried =
      quantile(mapped(trial.replays,
                      [](const SearchReplay& one) {
                        return one.tried ? static_cast<double>(*one.tried) : kNever;
                      }),
               share);
  return tried == kNever ? std::nullopt : std::optional(static_cast<std::size_t>(tried));
}

const auto tried_median = [](const SearchTrial& t) { return tried(t, kMedianShare); };
const auto tried_most_seeds = [](const SearchTrial& t) { return tried(t, kMostSeeds); };
const auto behind_most_seeds = [](const SearchTrial& t) {
  return quantile(mapped(t.replays, &SearchReplay::behind_percent), kMostSeeds);
};
/// A quantile over the seeds; nothing if the replays stopped before their searches ended.
template <typename Member>
std::optional<double> ended(const SearchTrial& trial, Member member, double share) {
  if (trial.replays.front().ended_after == 0) {
    return std::nullopt;
  }
  return quantile(mapped(trial.replays,
                         [&](const SearchReplay& one) { return static_cast<double>(one.*member); }),
                  share);
}

const auto ended_after_median = [](const SearchTrial& t) {
  return ended(t, &SearchReplay::ended_after, kMedianShare);
};
const auto ended_behind_most_seeds = [](const SearchTrial& t) {
  return ended(t, &SearchReplay::ended_behind_percent, kMostSeeds);
};
const auto ended_close = [](const SearchTrial& t) {
  const auto close = std::ranges::count_if(t.replays, [](const SearchReplay& one) {
    return one.ended_behind_percent <= 100.0 * kCloseToBest;
  });
  return t.replays.front().ended_after == 0 ? std::nullopt : std::optional(close);
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
      {"problem", "problem", Look{.least = 14}, [](const T& t) { return describe(t.problem); }},
      {"search", "search", [](const T& t) { return enum_name(t.search); }},
      {"configs", "configs", &T::configs},
      {"seeds", "seeds", [](const T& t) { return t.replays.size(); }},
      {"tried_median", "tried", tried_median},
      {"tried_9_of_10", "9 of 10", tried_most_seeds},
      {"tried_9_of_10_percent", "% of space", Look{.decimals = 1}, tried_percent},
      {"part", "part", kProgramsOnly, &T::part},
      {"behind_9_of_10_percent", "behind % at 5 %", Look{.decimals = 2}, behind_most_seeds},
      {"ended_after_median", "ended after", ended_after_median},
      {"ended_behind_9_of_10_percent", "behind % then", Look{.decimals = 2},
       ended_behind_most_seeds},
      {"ended_close", "within 1 %", ended_close},
  };
}

Document search_document(const std::vector<SearchTrial>& trials) {
  return rows_document("search", "trials", search_fields(), trials);
}

}  // namespace fatune
