// Device memory for kernels that need a workspace: one for each stream, kept for its next launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "attention.hpp"

namespace fatune_attention::torch_binding {

/// A workspace whose memory serves nothing else before this is gone.
struct HeldWorkspace {
  std::shared_ptr<const void> memory;
  Workspace workspace;
};

/// A workspace for the next launch on the stream, the device's current one. It is the stream's own,
/// which grows when it has to. While the stream is captured it is memory of the graph.
HeldWorkspace take_workspace(std::int32_t device_index, void* stream, std::size_t bytes);

}  // namespace fatune_attention::torch_binding
