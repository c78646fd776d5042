#pragma once

#include <cstddef>
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

}  // namespace fatune
