#pragma once

#include "core/kernel_arguments.hpp"
#include "gpu/memory.hpp"

namespace fatune::gpu {

/// Encodes the map with cuTensorMapEncodeTiled; its tensor begins at `address`. Throws DriverError,
/// whose call() has the figures, if the driver refuses the map; Error(gpu_failure) if the driver
/// has no tensor maps.
[[nodiscard]] TensorMapBytes encode_tensor_map(const TensorMapPiece& map, DevicePtr address);

/// The start of DriverError::call() when a map was refused.
inline constexpr const char* kTensorMapCall = "cuTensorMapEncodeTiled";

}  // namespace fatune::gpu
