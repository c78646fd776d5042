#pragma once

// Internal to src/gpu: the attributes of a launch, which its extents do not cover.

#include <cuda.h>

#include <vector>

#include "core/kernel_code.hpp"

namespace fatune::gpu {

#if CUDA_VERSION >= 11080

/// The launch attributes that the geometry needs. Empty: an ordinary launch suffices. Throws
/// Error(gpu_failure) if there are any and the driver is too old for them.
[[nodiscard]] std::vector<CUlaunchAttribute> launch_attributes(const LaunchGeometry& geometry);

#endif

}  // namespace fatune::gpu
