#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/choice/kernel_choice.hpp"
#include "engine/choice/plan_problems.hpp"
#include "model/options.hpp"
#include "model/workload.hpp"
#include "plan/problem_plan.hpp"

namespace fatune {

/// What a sweep is asked for.
struct SweepRequest {
  const KernelOptions& kernels;
  const ProblemOptions& problems;
  const std::optional<Workload>& workload;  ///< its problems, in place of those of the options
  const TargetOptions& target;
  const OutputOptions& output;
};

/// What a sweep tries.
struct SweepPlan {
  std::vector<FamilyPlan> families;  ///< at least one of each family that has configurations
  std::vector<ProblemPlan> problems;
  std::string space;               ///< what records call it
  std::vector<std::string> notes;  ///< what is left out, and why
};

/// Plans a sweep. Drops the families that have no part in it from `kernels`, which must outlive the
/// plan's families. Throws Error(nothing_ranked) if no configuration is left.
[[nodiscard]] SweepPlan plan_sweep(const SweepRequest& request, KernelSet& kernels);

}  // namespace fatune
