#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/report.hpp"

namespace fatune {

/// What a workload's calls take if its problems use the best of these configurations.
struct FewConfigs {
  std::vector<std::string> configs;  ///< short forms
  double total_us = 0.0;
};

/// What the calls of a workload take.
struct WorkloadCost {
  double calls = 0.0;
  double winners_us = 0.0;  ///< with the winner of each problem
  double low_us = 0.0;      ///< the same by the lower and upper bounds of the winners' medians
  double high_us = 0.0;
  std::size_t known = 0;   ///< problems of which the time before is known
  double before_us = 0.0;  ///< what their calls took before
  double after_us = 0.0;   ///< and take with their winners
  /// Sets of 1, 2, 3 and so on configurations, as far as they serve every problem, until one comes
  /// within half a percent of the winners. Each has one configuration more than the one before,
  /// chosen for the greatest gain.
  std::vector<FewConfigs> few;
};

/// The cost of the problems that a workload calls; absent: none has a time.
[[nodiscard]] std::optional<WorkloadCost> workload_cost(const std::vector<ProblemReport>& problems);

}  // namespace fatune
