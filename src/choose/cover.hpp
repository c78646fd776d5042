#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "choose/tuned_table.hpp"
#include "model/config.hpp"

namespace fatune {

/// The cost of a candidate that does not serve a row.
inline constexpr double kNotServed = std::numeric_limits<double>::infinity();

/// Costs of serving each row (outer) by each candidate (inner): finite and not negative, or
/// kNotServed. All rows have the same length. Each is served by at least one candidate.
using ServingCosts = std::vector<std::vector<double>>;

/// Returns the fewest candidates that serve every row, ascending; of several such sets, one with
/// the least sum of the rows' least costs. It is found by lp_solve's branch and bound. Returns
/// nothing if that takes longer than `limit_s` seconds.
[[nodiscard]] std::optional<std::vector<std::size_t>> smallest_cover(const ServingCosts& costs,
                                                                     long limit_s = 10);

/// Returns a set that serves every row, ascending. Repeatedly takes the candidate that serves the
/// most rows not yet served; of several, the one with the least sum of costs on these, then the
/// first.
[[nodiscard]] std::vector<std::size_t> greedy_cover(const ServingCosts& costs);

/// A set that has grown by one candidate.
struct GrownCover {
  std::size_t added = 0;
  std::size_t not_served = 0;  ///< rows
  double cost = 0.0;           ///< sum of the least costs of the rows that are served
};

/// Grows a set, candidate by candidate: each leaves the fewest rows that are not served, and of
/// these has the least sum of costs; of several, it is the first. Ends with `most` candidates, or
/// when no other helps.
[[nodiscard]] std::vector<GrownCover> grow_cover(const ServingCosts& costs, std::size_t most);

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
  std::optional<double> percent;  ///< by which that one may be slower; absent: limited in number
  bool exact = true;              ///< no smaller set is as good; false: a greedy choice
  std::size_t winners = 0;        ///< size of the set without a cover: all that win a row
  std::vector<CoveringConfig> configs;  ///< in configuration order
  double winners_us = 0.0;  ///< of all calls of a workload with the winners; 0: no calls are known
  double total_us = 0.0;    ///< the same with the set
};

/// The greatest number of candidates for which a cover is exact, in each part of the table that
/// shares no candidate with the others. Candidates that another one replaces do not count.
inline constexpr std::size_t kMostExactCandidates = 256;

/// The smallest set that has, for every row, a configuration within `percent` of the winner. Of
/// several such sets, one with the least sum of the rows' regrets; those of a workload's calls have
/// the weights of the time that all calls take. If a row's best remaining
/// configuration is not within `percent`, that one is taken. Times that are not known count as too
/// slow.
[[nodiscard]] Cover find_cover(const TunedTable& table, double percent,
                               std::size_t most_exact = kMostExactCandidates);

/// At most `most` configurations that have a time on every row, chosen by grow_cover() for the
/// least sum of the same regrets. Throws Error(usage) if these serve only some rows.
[[nodiscard]] Cover find_few(const TunedTable& table, std::size_t most);

/// The configurations that win a row or are a default, in configuration order.
[[nodiscard]] std::vector<Config> winners_and_defaults(const TunedTable& table);

/// The table with only the times of these configurations, on each row from the least regret on, and
/// defaults chosen among them. Its fits combine them (fit_times()); those of a cover do not.
[[nodiscard]] TunedTable restricted_to(const TunedTable& table, const std::vector<Config>& configs);
[[nodiscard]] TunedTable restricted_to(const TunedTable& table, const Cover& cover);

}  // namespace fatune
