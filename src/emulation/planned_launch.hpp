#pragma once

#include "core/device_limits.hpp"
#include "emulation/emulated_problem.hpp"
#include "plan/family.hpp"

namespace fatune {

/// Returns the launch of all blocks of a configuration on a problem, on a device with these limits.
/// Without machine code the number of registers is not known, so `resident_blocks` follows from
/// threads and shared memory alone. A kernel that deadlocks with that many resident blocks does so
/// on the device too.
[[nodiscard]] EmulatedLaunch planned_launch(const Family& family, const Config& config,
                                            const Problem& problem, const DeviceLimits& limits);

}  // namespace fatune
