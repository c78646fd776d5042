#pragma once

#include <optional>
#include <vector>

#include "core/config.hpp"
#include "core/report.hpp"

namespace fatune {

/// Puts entries into a problem's report: measured and estimated ones into `ranking`, ordered and
/// numbered by `rank_entries`; all others into `failures`, in configuration order.
/// `baseline`: the configuration that relative_percent refers to; without one, or when it has no
/// time on this problem, the best.
void sort_into_report(std::vector<Entry> entries, const std::optional<Config>& baseline,
                      ProblemReport& report);

/// Orders by ranked_us, ties by configuration order, and fills rank, tie_group and
/// relative_percent (100 * baseline / this). Precondition: every entry's outcome is_ranked.
///
/// Tie groups: an entry belongs to the group of the fastest entry before it whose confidence
/// interval overlaps its own; group numbers count from 1. An estimate has no interval: only equal
/// estimates tie.
/// A time of zero or one that is not finite sorts last and gets relative_percent 0.
void rank_entries(std::vector<Entry>& entries, const std::optional<Config>& baseline);

}  // namespace fatune
