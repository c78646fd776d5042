#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/report.hpp"

namespace fatune {

struct RoundOfRace {
  int round = 0;
  std::size_t contenders = 0;  ///< left in the race after it
};

/// Counts the configurations that were left after each round in which one was eliminated. The first
/// entry is round 0 with all configurations that the race sampled. Round 0 appears again if some
/// were eliminated at admission. Results taken from another configuration or an earlier run are not
/// counted. Empty for a problem that was not raced.
[[nodiscard]] std::vector<RoundOfRace> race_course(const ProblemReport& problem);

/// A configuration that was faster than those proposed before it.
struct BestSoFar {
  std::int64_t proposal = 0;  ///< Result::proposal
  double us = 0.0;            ///< its time in the ranking
  std::string config;         ///< short form
  std::string by;             ///< Result::proposed_by
};

/// The configurations of a problem that were faster than all proposed before them, in the order of
/// the proposals. Configurations whose place is not known are left out.
[[nodiscard]] std::vector<BestSoFar> search_course(const ProblemReport& problem);

}  // namespace fatune
