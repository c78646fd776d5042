#pragma once

// The functions of the CUDA driver that PyTorch's stable interface does not offer, and the state of
// CUDA and PyTorch in the calling thread: its context, its stream, and whether that stream is being
// captured.

#include <cstddef>
#include <cstdint>

namespace fatune_attention::torch_binding {

/// Functions of libcuda.so.1, with the driver's own arguments: contexts and streams are handles.
/// They return 0 or an error.
struct Driver {
  int (*context)(void** context);
  int (*primary_context)(void** context, int device);
  int (*set_context)(void* context);
  int (*capture_status)(void* stream, int* status);
  int (*allocate)(std::uint64_t* address, std::size_t bytes);
  int (*free)(std::uint64_t address);
  int (*clear)(std::uint64_t address, unsigned char value, std::size_t bytes, void* stream);
};

/// Loads the driver at the first call. Throws std::runtime_error if there is no driver.
const Driver& driver();

/// Throws std::runtime_error unless the status is 0.
void check_driver(int status, const char* what);

/// Makes the device's primary context, which PyTorch uses, current in a thread that has no context
/// yet. Throws std::runtime_error if the driver refuses.
void ensure_context(std::int32_t device_index);

/// PyTorch's current stream on the device, as a CUstream.
void* current_stream(std::int32_t device_index);

/// Whether the stream is being captured into a CUDA graph.
bool is_capturing(void* stream);

}  // namespace fatune_attention::torch_binding
