#pragma once

#include "core/device_limits.hpp"
#include "core/kernel_code.hpp"
#include "core/matmul_rate.hpp"
#include "measure/gpu_monitor.hpp"

namespace fatune {

/// Multiplies matrices on all SMs of the current context's device for some 50 ms: the median of
/// several launches, after as many that warm it up. `kernel` is compiled from matmul_request(),
/// `monitor` may be null. Throws gpu::DriverError.
[[nodiscard]] MatmulRate measure_matmul_rate(const Artifact& kernel, const DeviceLimits& limits,
                                             GpuMonitor* monitor);

}  // namespace fatune
