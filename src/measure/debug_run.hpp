#pragma once

#include "attention/head_problem.hpp"
#include "core/device_limits.hpp"

namespace fatune {

/// Runs the kernel in this process, on the current context, and waits. Throws gpu::DriverError.
[[nodiscard]] DebugResult run_for_debug(const DebugRequest& request, const DeviceLimits& limits);

}  // namespace fatune
