#pragma once

#include <vector>

#include "engine/problem_plan.hpp"
#include "plan/family.hpp"
#include "report/report.hpp"
#include "tuned/cover.hpp"

namespace fatune {

/// Plans the races that a cover lacks after a run. A problem gets one if rules dropped
/// configurations on it that win another problem. These race, as audited ones, against the
/// problem's winner. `reports`: those of the plans, in the same order.
[[nodiscard]] std::vector<ProblemPlan> plan_cover_races(const std::vector<ProblemPlan>& plans,
                                                        const std::vector<ProblemReport>& reports);

/// Finds the cover of what a run has measured.
[[nodiscard]] Cover find_cover(const RunReport& run, const FamilySet& families, double percent);

}  // namespace fatune
