#pragma once

#include <vector>

#include "engine/choice/kernel_choice.hpp"
#include "model/device_limits.hpp"
#include "plan/problem_plan.hpp"

namespace fatune {

/// Puts the problems of a workload in the order of the time that all their calls take, the longest
/// first, and sets their shares of a budget: three quarters by that time, the rest equally. Where
/// the workload does not say how long a call takes, the least estimate of its configurations
/// counts.
void put_heaviest_first(const KernelSet& kernels, const DeviceLimits& device,
                        std::vector<ProblemPlan>& problems);

}  // namespace fatune
