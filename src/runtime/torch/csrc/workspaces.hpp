// Device memory for kernels that need a workspace: one workspace per stream, kept for its next
// launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "attention.hpp"

namespace fatune_attention::torch_binding {

/// A workspace whose memory serves nothing else while this object exists.
struct HeldWorkspace {
  std::shared_ptr<const void> memory;
  Workspace workspace;
};

/// Returns a workspace for the next launch on the stream, the device's current one. It is the
/// stream's own workspace, which grows if necessary. While the stream is being captured, it is
/// memory of the graph.
HeldWorkspace take_workspace(std::int32_t device_index, void* stream, std::size_t bytes);

}  // namespace fatune_attention::torch_binding
