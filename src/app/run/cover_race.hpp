#pragma once

#include <vector>

#include "engine/problem_plan.hpp"
#include "plan/family_set.hpp"
#include "report/report.hpp"
#include "tuned/cover.hpp"

namespace fatune {

/// What a cover lacks after a run: for each problem on which rules dropped configurations that win
/// another one, a further race of these, as audited ones, with the problem's winner. `reports`: of
/// the plans, in their order.
[[nodiscard]] std::vector<ProblemPlan> plan_cover_races(const std::vector<ProblemPlan>& plans,
                                                        const std::vector<ProblemReport>& reports);

/// The cover of what a run has measured.
[[nodiscard]] Cover find_cover(const RunReport& run, const FamilySet& families, double percent);

}  // namespace fatune
