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
  double worst_regret_percent = 0.0;  ///< the greatest of them
};

/// A set of configurations of which one is good enough on every row.
struct Cover {
  double percent = 0.0;                 ///< by how much that one may be slower than the winner
  bool exact = true;                    ///< no smaller set is as good; false: a greedy choice
  std::size_t winners = 0;              ///< configurations that win a row: the set without a cover
  std::vector<CoveringConfig> configs;  ///< in configuration order
};

/// Up to how many candidates that no other one replaces a cover is exact, in each part of the table
/// that shares no candidate with the others.
inline constexpr std::size_t kMostExactCandidates = 256;

/// The smallest set of which, on every row, a configuration is within `percent` of the winner; of
/// several, one with the least sum of the rows' regrets. Where a row's best remaining configuration
/// is not within it, that one is taken. Times that are not known count as too slow.
[[nodiscard]] Cover find_cover(const TunedTable& table, double percent,
                               std::size_t most_exact = kMostExactCandidates);

/// The configurations that win a row, or are a default, in configuration order.
[[nodiscard]] std::vector<Config> winners_and_defaults(const TunedTable& table);

/// The table with the times of these configurations alone, and defaults chosen among them.
[[nodiscard]] TunedTable restricted_to(const TunedTable& table, const std::vector<Config>& configs);
[[nodiscard]] TunedTable restricted_to(const TunedTable& table, const Cover& cover);

}  // namespace fatune
