#pragma once

#include "engine/problem_plan.hpp"
#include "report/report.hpp"

namespace fatune {

/// Orders report.audited (fastest first, those without a time last) and fills report.audit. For
/// each of the space's rules it says how many configurations the rule dropped on this problem and,
/// estimated from those that were tried anyway, what the rule saved and cost. Precondition: the
/// ranking is made.
void add_audit(const ProblemPlan& plan, ProblemReport& report);

}  // namespace fatune
