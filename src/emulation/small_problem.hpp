#pragma once

#include <optional>
#include <vector>

#include "attention/probe_problem.hpp"
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
  bool same_code = false;  ///< `request` is that of the problem itself
};

/// Small launches in the order in which to try them: one head of a problem with as many heads, when
/// the machine code and the grid allow that; then all blocks of one with two heads, whose code may
/// be another. Both are small_problem() otherwise. Launches that the family cannot build or launch
/// are left out.
[[nodiscard]] std::vector<SmallLaunch> small_launches(const Family& family, const Config& config,
                                                      const Problem& problem,
                                                      const DeviceLimits& limits);

/// The launch for more keys, with the same code and raggedness, which shows how work grows. Nothing
/// when the problem has no more keys, or the code is another one.
[[nodiscard]] std::optional<EmulatedLaunch> longer_launch(const Family& family,
                                                          const Config& config,
                                                          const Problem& problem,
                                                          const DeviceLimits& limits,
                                                          const SmallLaunch& small);

}  // namespace fatune
