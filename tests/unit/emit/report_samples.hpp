#pragma once

#include "core/report.hpp"
#include "emit/compile_report.hpp"
#include "emit/plan_report.hpp"

namespace fatune {

/// A report with one entry for every kind of outcome.
[[nodiscard]] RunReport sample_report(bool measured);
[[nodiscard]] PlanReport sample_plan();
[[nodiscard]] CompileReport sample_compilation();

}  // namespace fatune
