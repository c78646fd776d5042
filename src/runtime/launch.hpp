#pragma once

// Queues a launch that a builder has described. The library's kernels are loaded into the driver
// once each, when they are first needed.

#include "driver.hpp"
#include "launch_builder.hpp"

namespace fatune_attention::detail {

/// Gives the handle of kernel `index` of the table, after applying the settings that launches of
/// this shape need on the device.
Result prepare_kernel(int index, const CurrentDevice& on, const LaunchShape& shape, void*& handle);

/// Loads the kernel's code into the current context now. Otherwise its first launch does so.
Result load_code(void* handle);

/// An EncodeTensorMap that uses the driver.
const char* encode_by_driver(const TensorMap& map, std::uint64_t address, void* bytes);

/// Fills the parts of the workspace that must be filled, and launches the kernel.
Result launch(void* kernel, LaunchBuilder& builder, const Workspace& workspace, void* stream);

}  // namespace fatune_attention::detail
