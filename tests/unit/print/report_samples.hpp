#pragma once

#include "commands/compile/compile.hpp"
#include "commands/list/list.hpp"
#include "model/report.hpp"

namespace fatune {

/// A report with one result for every kind of outcome.
[[nodiscard]] RunReport sample_report(bool measured);
/// A report of a race on two GPUs. It has readings, retaken samples, a warning, two configurations
/// with the same code, and an audit: rule "a" has a cost, rule "b" has none, and rule "c" was not
/// tried.
[[nodiscard]] RunReport sample_race();
[[nodiscard]] PlanReport sample_plan();
[[nodiscard]] CompileReport sample_compilation();

}  // namespace fatune
