#pragma once

#include <cstddef>
#include <vector>

#include "report/report.hpp"

namespace fatune {

struct RoundOfRace {
  int round = 0;
  std::size_t contenders = 0;  ///< that were still in the race behind it
};

/// How many configurations were left behind each round in which one was eliminated. It begins with
/// round 0 and all that gave the race samples; round 0 comes once more where some were eliminated
/// at admission. Results that were taken from another configuration or an earlier run are not
/// counted. Empty for a problem that was not raced.
[[nodiscard]] std::vector<RoundOfRace> race_course(const ProblemReport& problem);

}  // namespace fatune
