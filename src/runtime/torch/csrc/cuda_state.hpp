// The state of CUDA and PyTorch in the calling thread: its context, its stream, and whether that
// stream is being captured.
#pragma once

#include <cstdint>

namespace fatune_attention::torch_binding {

/// Makes the device's primary context, which PyTorch uses, current in a thread that has no context
/// yet. Throws std::runtime_error if the driver refuses.
void ensure_context(std::int32_t device_index);

/// PyTorch's current stream on the device, as a CUstream.
void* current_stream(std::int32_t device_index);

/// Whether the stream is being captured into a CUDA graph.
bool is_capturing(void* stream);

}  // namespace fatune_attention::torch_binding
