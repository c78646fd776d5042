#pragma once

#include "engine/problem_plan.hpp"
#include "report/report.hpp"

namespace fatune {

/// Orders report.audited (fastest first, those without a time last) and fills report.audit: what
/// each of the space's rules saved on this problem, judged by those of its configurations that were
/// tried nevertheless, and what the rule cost. Nothing when none was. Precondition: the ranking is
/// made.
void add_audit(const ProblemPlan& plan, ProblemReport& report);

}  // namespace fatune
