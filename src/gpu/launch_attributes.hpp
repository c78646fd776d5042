#pragma once

// Internal to src/gpu: what a launch has beside its extents.

#include <cuda.h>

#include <vector>

#include "core/kernel_code.hpp"

namespace fatune::gpu {

#if CUDA_VERSION >= 11080

/// Empty: an ordinary launch. Throws Error(gpu_failure) when the driver is too old for others.
[[nodiscard]] std::vector<CUlaunchAttribute> launch_attributes(const LaunchGeometry& geometry);

#endif

}  // namespace fatune::gpu
