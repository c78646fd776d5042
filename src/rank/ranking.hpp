#pragma once

#include <optional>
#include <vector>

#include "core/config.hpp"
#include "report/report.hpp"

namespace fatune {

/// The part of an estimate by which another may be longer and yet not be told apart from it: one in
/// a hundred (docs/estimate.md, "What it can tell").
inline constexpr double kEstimateResolution = 0.01;

/// Puts results into a problem's report: measured and estimated ones into `ranking`, ordered and
/// numbered by `rank_results`; all others into `failures`, in configuration order.
/// `baseline`: the configuration that relative_percent refers to; without one, or when it has no
/// time on this problem, the best.
void sort_into_report(std::vector<Result> results, const std::optional<Config>& baseline,
                      ProblemReport& report);

/// Orders results, and fills rank, tie_group and relative_percent (100 * baseline / this).
/// Precondition: every result's outcome is_ranked.
///
/// Results that all come with a rank and a tie group, those of a race that compared them in pairs,
/// keep that order and those groups, and are numbered anew from 1. Others are ordered by ranked_us,
/// ties by configuration order.
///
/// Tie groups then: a result belongs to the group of the fastest result before it whose confidence
/// interval overlaps its own; group numbers count from 1. An estimate's interval is what it cannot
/// tell: it begins there and is kEstimateResolution of it long.
/// A time of zero or one that is not finite sorts last and gets relative_percent 0.
void rank_results(std::vector<Result>& results, const std::optional<Config>& baseline);

}  // namespace fatune
