#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "app/evaluator.hpp"
#include "app/problem_plan.hpp"
#include "app/progress.hpp"
#include "app/run_log.hpp"
#include "compile/compile_pool.hpp"
#include "core/config.hpp"
#include "core/device_limits.hpp"
#include "core/report.hpp"
#include "plan/family.hpp"

namespace fatune {

enum class PipelineEnd {
  complete,
  interrupted,  ///< by the user
  lost,         ///< the evaluator cannot go on
};

/// What a pipeline works with; all of it must outlive the call.
struct PipelineParts {
  const Family& family;
  const DeviceLimits& limits;
  CompilePool::CompileFunction compile_one;
  int jobs;
  Evaluator& evaluator;
  Progress& progress;
  RunLog& log;
};

/// Plans become artifacts, artifacts become outcomes, outcomes become rankings: problem by problem,
/// while one pool compiles for all of them. `on_problem` gets each problem's report as soon as it
/// is ranked, and the unfinished one of a run that ends early, if anything in it was tried.
/// `relative_percent` refers to `baseline` (see rank/ranking.hpp).
[[nodiscard]] PipelineEnd run_pipeline(const PipelineParts& parts,
                                       const std::vector<ProblemPlan>& plans,
                                       const std::optional<Config>& baseline,
                                       const std::function<void(ProblemReport)>& on_problem);

}  // namespace fatune
