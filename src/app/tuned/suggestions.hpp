#pragma once

#include <vector>

#include "app/option_groups.hpp"
#include "core/device_limits.hpp"
#include "engine/problem_plan.hpp"
#include "plan/family_set.hpp"

namespace fatune {

/// Suggests to each problem's search what was fast on the nearest tuned problems: those that fatune
/// ships and, unless the store is off, those of its latest runs. Throws as load_known().
void suggest_tuned(const FamilySet& families, const StoreOptions& store, const DeviceLimits& limits,
                   std::vector<ProblemPlan>& problems);

}  // namespace fatune
