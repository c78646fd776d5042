#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "tuned/tuned_table.hpp"

namespace fatune {

/// A configuration of a cover.
struct CoveringConfig {
  Config config;
  std::string short_form;
  std::size_t problems = 0;           ///< rows on which it is the best of the cover
  double mean_regret_percent = 0.0;   ///< on these: the geometric mean
  double worst_regret_percent = 0.0;  ///< on these: the greatest
};

/// A set of configurations, at least one of which is good enough on every row.
struct Cover {
  double percent = 0.0;                 ///< by which that one may be slower than the winner
  bool exact = true;                    ///< no smaller set is as good; false: a greedy choice
  std::size_t winners = 0;              ///< size of the set without a cover: all that win a row
  std::vector<CoveringConfig> configs;  ///< in configuration order
};

/// The greatest number of candidates for which a cover is exact, in each part of the table that
/// shares no candidate with the others. Candidates that another one replaces do not count.
inline constexpr std::size_t kMostExactCandidates = 256;

/// The smallest set that has, for every row, a configuration within `percent` of the winner. Of
/// several such sets, one with the least sum of the rows' regrets. If a row's best remaining
/// configuration is not within `percent`, that one is taken. Times that are not known count as too
/// slow.
[[nodiscard]] Cover find_cover(const TunedTable& table, double percent,
                               std::size_t most_exact = kMostExactCandidates);

/// The configurations that win a row or are a default, in configuration order.
[[nodiscard]] std::vector<Config> winners_and_defaults(const TunedTable& table);

/// The table with only the times of these configurations, and defaults chosen among them.
[[nodiscard]] TunedTable restricted_to(const TunedTable& table, const std::vector<Config>& configs);
[[nodiscard]] TunedTable restricted_to(const TunedTable& table, const Cover& cover);

}  // namespace fatune
