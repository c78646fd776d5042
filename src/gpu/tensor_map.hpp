#pragma once

#include "core/kernel_arguments.hpp"
#include "gpu/memory.hpp"

namespace fatune::gpu {

/// Encodes the map with cuTensorMapEncodeTiled; its tensor begins at `address`. Throws DriverError,
/// with the figures in the call's name, for a map that the driver refuses; Error(gpu_failure) when
/// the driver has no tensor maps.
[[nodiscard]] TensorMapBytes encode_tensor_map(const TensorMapPiece& map, DevicePtr address);

/// The beginning of DriverError::call() when a map was refused.
inline constexpr const char* kTensorMapCall = "cuTensorMapEncodeTiled";

}  // namespace fatune::gpu
