#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "app/choice/rivals.hpp"
#include "engine/problem_plan.hpp"
#include "report/report.hpp"

namespace fatune {

/// Measures plans: a report for each, in their order; fewer when it was interrupted.
using MeasurePlans =
    std::function<std::vector<ProblemReport>(const std::vector<ProblemPlan>& plans)>;

/// Races each problem's winner against its rival, when the run is over: first, where the rival is
/// the fastest with other sources, all of the problem's configurations with these; then the two
/// alone, which take turns for a fixed number of rounds. `plans` and `reports` are of the run, in
/// the same order; repetitions and races for a cover are left out.
[[nodiscard]] GateReport race_rivals(const Rivals& rivals, const std::vector<ProblemPlan>& plans,
                                     const std::vector<ProblemReport>& reports,
                                     const MeasurePlans& measure_plans);

}  // namespace fatune
