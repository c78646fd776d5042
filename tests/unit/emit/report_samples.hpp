#pragma once

#include "emit/compile_report.hpp"
#include "emit/plan_report.hpp"
#include "report/report.hpp"

namespace fatune {

/// A report with one result for every kind of outcome.
[[nodiscard]] RunReport sample_report(bool measured);
/// Raced on two GPUs, with readings, retaken samples, a warning, code that is there twice, and an
/// audit: rule "a" has cost something, rule "b" nothing, rule "c" had no turn.
[[nodiscard]] RunReport sample_race();
[[nodiscard]] PlanReport sample_plan();
[[nodiscard]] CompileReport sample_compilation();

}  // namespace fatune
