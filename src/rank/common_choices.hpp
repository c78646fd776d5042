#pragma once

#include <vector>

#include "report/cases.hpp"
#include "report/report.hpp"

namespace fatune {

/// The one configuration for all problems of each type and head dimension that has more than one
/// problem. Cover races are not counted. Times are medians or estimates, as in the reports.
///
/// The regret of a configuration on a problem is its time over the winner's, less one. It is at
/// least 0, since a race may rank a configuration with a smaller median of few samples behind its
/// winner. The choice for all problems has the least geometric mean of times over the winners',
/// then the least worst regret, then the first place in configuration order. It must be ranked on
/// every problem. Precondition: rankings are numbered, best first.
[[nodiscard]] std::vector<CommonChoice> common_choices(const std::vector<ProblemReport>& problems);

/// Fills in speed_up, compared with the first variant on the same problem, and scaling, the rate
/// divided by that of the same variant on its first problem (FLOP by the literature's convention).
/// They stay empty if one of the two results has no time.
void compare_cases(std::vector<CaseResult>& results);

}  // namespace fatune
