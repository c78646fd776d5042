#pragma once

#include <optional>
#include <vector>

#include "report/report.hpp"
#include "report/winners_summary.hpp"

namespace fatune {

/// The winners of several problems, and the one configuration for all of them; nothing when all
/// reports are of one problem. Races for a cover are not counted. Medians or estimates, as the
/// reports have them.
///
/// The regret of a configuration on a problem is its time over the winner's, less one; at least 0,
/// since a race may rank one with a smaller median of few samples behind its winner. The choice for
/// all has the least geometric mean of these times over the winners'; then the least worst regret;
/// then it is the first in configuration order. Only what is ranked on every problem can be it.
/// Precondition: rankings are numbered, best first.
[[nodiscard]] std::optional<WinnersSummary> summarize_winners(
    const std::vector<ProblemReport>& problems);

}  // namespace fatune
