#pragma once

#include <optional>
#include <vector>

#include "attention/problem.hpp"
#include "core/config.hpp"
#include "core/device_limits.hpp"
#include "core/kernel_code.hpp"
#include "emulation/emulated_problem.hpp"
#include "plan/family.hpp"

namespace fatune {

/// A launch that is cheap to emulate and stands for a configuration on a problem.
struct SmallLaunch {
  EmulatedLaunch launch;
  CompileRequest request;
  bool same_code = false;  ///< `request` gives the machine code of the problem itself
};

/// Returns small launches in the order in which to try them. The first runs one head of
/// small_problem(), if the machine code and the grid allow that. The second runs all blocks of
/// small_problem() with at most two heads, and may have other code. Launches that the family cannot
/// build or launch are left out.
[[nodiscard]] std::vector<SmallLaunch> small_launches(const Family& family, const Config& config,
                                                      const Problem& problem,
                                                      const DeviceLimits& limits);

/// Returns a launch with more keys and the same code and raggedness, which shows how the work
/// grows. Returns nothing if the problem is no longer than `small`, or if the code would differ.
[[nodiscard]] std::optional<EmulatedLaunch> longer_launch(const Family& family,
                                                          const Config& config,
                                                          const Problem& problem,
                                                          const DeviceLimits& limits,
                                                          const SmallLaunch& small);

}  // namespace fatune
