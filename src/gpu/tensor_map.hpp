#pragma once

#include "core/kernel_arguments.hpp"
#include "gpu/memory.hpp"

namespace fatune::gpu {

/// What cuTensorMapEncodeTiled makes of it; its tensor begins at `address`. Throws DriverError,
/// with the figures in the call's name, for a map that the driver refuses; Error(gpu_failure) when
/// the driver has no tensor maps.
[[nodiscard]] TensorMapBytes encode_tensor_map(const TensorMapPiece& map, DevicePtr address);

/// What DriverError::call() begins with when it was refused.
inline constexpr const char* kTensorMapCall = "cuTensorMapEncodeTiled";

}  // namespace fatune::gpu
