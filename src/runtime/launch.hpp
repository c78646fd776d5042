// Queues a launch that a builder has described.
#pragma once

#include "launch_builder.hpp"

namespace fatune_attention::detail {

/// An EncodeTensorMap that uses the driver.
const char* encode_by_driver(const TensorMap& map, std::uint64_t address, void* bytes);

/// Fills the parts of the workspace that must be filled, and launches the kernel.
Result launch(void* kernel, LaunchBuilder& builder, const Workspace& workspace, void* stream);

}  // namespace fatune_attention::detail
