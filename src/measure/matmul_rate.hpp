#pragma once

#include "core/device_limits.hpp"
#include "core/kernel_code.hpp"
#include "measure/gpu_monitor.hpp"

namespace fatune {

/// Measures the rate of dense products on all SMs of the current context's device, for some 50 ms.
/// The rate is that of the median of several launches, after about as many warm-up launches.
/// `kernel` must be compiled from matmul_request(); `monitor` may be null. Throws gpu::DriverError.
[[nodiscard]] MatmulRate measure_matmul_rate(const Artifact& kernel, const DeviceLimits& limits,
                                             GpuMonitor* monitor);

}  // namespace fatune
