#pragma once

#include <string>
#include <vector>

#include "model/device_limits.hpp"

namespace fatune::gpu {

/// A GPU of this machine, in the driver's order (CUDA_VISIBLE_DEVICES applies).
struct Device {
  int ordinal = 0;
  DeviceLimits limits;           ///< free_memory_bytes is 0: only a Context knows (Context::memory)
  std::string unusable_because;  ///< one sentence; empty: usable
  std::string remedy;            ///< what to do about it; empty when usable

  [[nodiscard]] bool usable() const noexcept { return unusable_because.empty(); }
};

/// Every GPU that the driver shows, with its limits and, if it cannot be used, the reason. A GPU of
/// compute capability 9.0 or newer gets the 'a' architecture (sm_90a): its own full instruction
/// set. memory_gbps is 2 * memory clock * bus width, the figure of data sheets. Throws
/// Error(no_gpu) with the probe's problem and remedy if there is no usable driver.
[[nodiscard]] std::vector<Device> list_devices();

/// Describes one GPU. Throws Error(usage) if there is no GPU of that ordinal, Error(no_gpu) without
/// a usable driver.
[[nodiscard]] Device describe_device(int ordinal);

}  // namespace fatune::gpu
