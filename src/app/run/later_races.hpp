#pragma once

#include <functional>
#include <vector>

#include "app/choice/rivals.hpp"
#include "engine/problem_plan.hpp"
#include "plan/family_set.hpp"
#include "report/report.hpp"
#include "tuned/cover.hpp"

namespace fatune {

/// Measures plans. Returns a report for each, in their order, or fewer if it was interrupted.
using MeasurePlans =
    std::function<std::vector<ProblemReport>(const std::vector<ProblemPlan>& plans)>;

/// Whether the problem's race ended by itself.
[[nodiscard]] bool is_finished(const ProblemReport& report);

/// Compares each problem's winner with its rival after the run, or the file's winners with the
/// run's (Rivals::judges_file). If the rival is the fastest with other sources, first races all of
/// the problem's configurations with these. Then only the two race, and take turns for a fixed
/// number of rounds. `plans` and `run` belong together. `complete`: the user has not interrupted
/// the run. Problems that it had not finished are undecided. Repetitions and races for a cover are
/// left out.
[[nodiscard]] GateReport race_rivals(const Rivals& rivals, const std::vector<ProblemPlan>& plans,
                                     const RunReport& run, bool complete,
                                     const MeasurePlans& measure_plans);

/// Plans the races that a cover lacks after a run. A problem gets one if rules dropped
/// configurations on it that win another problem. These race, as audited ones, against the
/// problem's winner. `reports`: those of the plans, in the same order.
[[nodiscard]] std::vector<ProblemPlan> plan_cover_races(const std::vector<ProblemPlan>& plans,
                                                        const std::vector<ProblemReport>& reports);

/// Finds the cover of what a run has measured.
[[nodiscard]] Cover find_cover(const RunReport& run, const FamilySet& families, double percent);

}  // namespace fatune
