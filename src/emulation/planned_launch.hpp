#pragma once

#include "core/device_limits.hpp"
#include "emulation/emulated_problem.hpp"
#include "plan/family.hpp"

namespace fatune {

/// All blocks of a configuration on a problem, as it would be launched on a device of these limits.
/// There is no machine code, so that registers are not known: `resident_blocks` is what threads and
/// shared memory leave room for, and a kernel that waits in vain there does so on the device too.
[[nodiscard]] EmulatedLaunch planned_launch(const Family& family, const Config& config,
                                            const Problem& problem, const DeviceLimits& limits);

}  // namespace fatune
