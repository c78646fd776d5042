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

/// The shard of each problem of a workload, from 1. The heaviest problem comes first, and each goes
/// to the shard with the least weight so far. Weights are the shares of a budget as above, but
/// depend on the workload alone, not on the machine: if it does not say how long each call takes,
/// the problems' FLOP and bytes stand for that.
[[nodiscard]] std::vector<int> balanced_shards(std::vector<ProblemPlan> problems, int count);

}  // namespace fatune
