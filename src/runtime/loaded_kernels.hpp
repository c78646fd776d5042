// The library's kernels in the driver. Each is loaded once, when it is first needed.
#pragma once

#include "devices.hpp"
#include "launch_builder.hpp"

namespace fatune_attention::detail {

/// Gives the handle of kernel `index` of the table, after applying the settings that launches of
/// this shape need on the device.
Result prepare_kernel(int index, const CurrentDevice& on, const LaunchShape& shape, void*& handle);

/// Loads the kernel's code into the current context now. Otherwise its first launch does so.
Result load_code(void* handle);

}  // namespace fatune_attention::detail
