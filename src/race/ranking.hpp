#pragma once

#include <optional>
#include <vector>

#include "model/config.hpp"
#include "model/emulation.hpp"
#include "model/report.hpp"
#include "model/verdict.hpp"

namespace fatune {

/// An estimate cannot be told apart from one that is longer by up to this part of it: one in a
/// hundred (docs/estimate.md, "What it can tell").
inline constexpr double kEstimateResolution = 0.01;

/// Puts results into a problem's report: measured and estimated ones into `ranking`, ordered and
/// numbered by `rank_results`; all others into `failures`, in configuration order. `baseline`: the
/// configuration that relative_percent refers to. Without one, or if it has no time on this
/// problem, the best is used.
void sort_into_report(std::vector<Result> results, const std::optional<Config>& baseline,
                      ProblemReport& report);

/// Orders results, and fills rank, tie_group and relative_percent (100 * baseline / this).
/// Precondition: every result's outcome is_ranked.
///
/// If all results come with a rank and a tie group, from a race that compared them in pairs, they
/// keep that order and those groups, and are numbered anew from 1. Otherwise, they are ordered by
/// ranked_us, then by configuration.
///
/// In the latter case, a result whose confidence interval overlaps that of the current tie group's
/// fastest result belongs to this group. Any other result begins the next group. Groups count from
/// 1. The interval of an estimate begins at the estimate and is kEstimateResolution of it long. A
/// time of zero or one that is not finite sorts last and gets relative_percent 0.
void rank_results(std::vector<Result>& results, const std::optional<Config>& baseline);

/// Fills verdict, doubt, times, interval, rounds and why of `check` from a duel: a problem in which
/// each round has a sample of `config` and one of `rival`.
void judge_duel(const ProblemReport& duel, const Config& config, const Config& rival,
                double tolerance_percent, RivalCheck& check);

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
