#include "emit/search_report.hpp"

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

const std::vector<Field<SearchTrial>>& search_fields() {
  using T = SearchTrial;
  static const std::vector<Field<T>> fields{
      {"problem", "problem", "the recorded problem, e.g. b16 s4096 h16 d128 FP16", 0, kEverywhere,
       [](const T& t) { return describe(t.problem); }, ColumnFit{.least = 14}},
      {"search", "search", "search that was replayed (docs/search.md)", 0, kEverywhere,
       [](const T& t) { return enum_name(t.search); }},
      {"configs", "configs", "number of recorded configurations that can run", 0, kEverywhere,
       [](const T& t) { return t.configs; }},
      {"seeds", "seeds", "number of replays, each with its own seed", 0, kEverywhere,
       [](const T& t) { return t.replays.size(); }},
      {"tried_median", "tried",
       "number of configurations tried until one was within 1 % of the fastest: median over the "
       "seeds; null: fewer than half of the seeds found one",
       0, kEverywhere, tried_median},
      {"tried_9_of_10", "9 of 10",
       "number of configurations tried until one was within 1 % of the fastest: 9 of 10 seeds "
       "needed no more; null: fewer than 9 of 10 seeds found one",
       0, kEverywhere, tried_most_seeds},
      {"tried_9_of_10_percent", "% of space", "tried_9_of_10 in percent of configs", 1, kEverywhere,
       tried_percent},
      {"part", "part", "number of configurations that is 5 % of configs", 0, kForPrograms,
       [](const T& t) { return t.part; }},
      {"behind_9_of_10_percent", "behind % at 5 %",
       "by how many percent the fastest configuration found is slower than the fastest recorded "
       "after as many tries as part says; 9 of 10 seeds are no further behind",
       2, kEverywhere, behind_most_seeds},
      {"ended_after_median", "ended after",
       "number of configurations tried when the search ended by itself: median over the seeds; "
       "null: the replay stopped before",
       0, kEverywhere, ended_after_median},
      {"ended_behind_9_of_10_percent", "behind % then",
       "by how many percent the fastest configuration found is slower than the fastest recorded "
       "when the search ended by itself; 9 of 10 seeds are no further behind; null: the replay "
       "stopped before",
       2, kEverywhere, ended_behind_most_seeds},
      {"ended_close", "within 1 %",
       "number of seeds for which the fastest configuration found was within 1 % of the fastest "
       "recorded when the search ended by itself; null: the replay stopped before",
       0, kEverywhere, ended_close},
  };
  return fields;
}

Document search_document(const std::vector<SearchTrial>& trials) {
  return rows_document("search", "trials", search_fields(), trials);
}

}  // namespace fatune
