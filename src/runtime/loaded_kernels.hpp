// The library's kernels as the driver has them: each is loaded when it is first needed, once.
#pragma once

#include "devices.hpp"
#include "launch_builder.hpp"

namespace fatune_attention::detail {

/// The handle of kernel `index` of the table, with what launches of that shape need set on the
/// device.
Result prepare_kernel(int index, const CurrentDevice& on, const LaunchShape& shape, void*& handle);

/// Brings the kernel's code into the current context now; else its first launch does.
Result load_code(void* handle);

}  // namespace fatune_attention::detail
