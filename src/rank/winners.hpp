#pragma once

#include <optional>
#include <vector>

#include "report/report.hpp"
#include "report/winners_summary.hpp"

namespace fatune {

/// Summarizes the winners of several problems, and the one configuration for all of them. Returns
/// nothing if all reports are of one problem. Cover races are not counted. Times are medians or
/// estimates, as in the reports.
///
/// The regret of a configuration on a problem is its time over the winner's, less one. It is at
/// least 0, since a race may rank a configuration with a smaller median of few samples behind its
/// winner. The choice for all problems has the least geometric mean of times over the winners',
/// then the least worst regret, then the first place in configuration order. It must be ranked on
/// every problem. Precondition: rankings are numbered, best first.
[[nodiscard]] std::optional<WinnersSummary> summarize_winners(
    const std::vector<ProblemReport>& problems);

}  // namespace fatune
