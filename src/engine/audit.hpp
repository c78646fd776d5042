#pragma once

#include "engine/problem_plan.hpp"
#include "report/report.hpp"

namespace fatune {

/// Orders report.audited (fastest first, those without a time last) and fills report.audit: how
/// many configurations each of the space's rules dropped on this problem and, judged by those that
/// were tried nevertheless, what the rule saved and cost. Precondition: the ranking is made.
void add_audit(const ProblemPlan& plan, ProblemReport& report);

}  // namespace fatune
