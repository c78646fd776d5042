#pragma once

#include <vector>

#include "app/choice/target.hpp"
#include "app/option_groups.hpp"
#include "app/run/session.hpp"
#include "compile/cubin_cache.hpp"
#include "emit/check_report.hpp"

namespace fatune {

/// Checks the planned configurations without a GPU. Each is emulated on a small problem that
/// represents its own (emulation/small_problem.hpp), with `seeds` seeds that start at the policy's.
/// Adds rows in the order of the plan. Returns false if the user has interrupted it. `cache` may be
/// null.
[[nodiscard]] bool check_by_emulation(const MeasureOptions& options, int seeds,
                                      const PlannedRun& run, const Target& target,
                                      CubinCache* cache, std::vector<CheckedInput>& rows);

}  // namespace fatune
