#pragma once

#include "app/option_groups.hpp"
#include "engine/problem_plan.hpp"
#include "plan/family.hpp"
#include "tuned/tuned_file.hpp"

namespace fatune {

/// Loads the finished table of the named files, then of the named stored runs. If nothing is named,
/// loads all tuned problems that fatune ships. Throws Error(bad_file) as load_json_from_disk(), and
/// if no problem can be used. Throws Error(usage) if there is no such run.
[[nodiscard]] TunedTable load_tuned(const TunedOptions& options, const FamilySet& families);

/// Suggests to each problem's search what was fast on the nearest tuned problems: those that fatune
/// ships and, unless the store is off, those of its latest runs. Throws Error(bad_file) and
/// Error(io) as stored_runs().
void suggest_tuned(const FamilySet& families, const StoreOptions& store, const DeviceLimits& limits,
                   std::vector<ProblemPlan>& problems);

/// Returns the table with its leave-one-out regrets, by the families' own rules.
[[nodiscard]] ExportReport judge_tuned(TunedTable table, const FamilySet& families);

}  // namespace fatune
