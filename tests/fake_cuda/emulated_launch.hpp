#pragma once

#include <cuda.h>

#include "fake_cuda/module.hpp"

namespace fake_cuda {

/// Runs a kernel on the emulator, in the fake's device memory. Returns the resulting state of the
/// context: the error with which a GPU would have ended the kernel, or CUDA_ERROR_NOT_SUPPORTED,
/// whose text says why, if the emulator cannot run it.
[[nodiscard]] CUresult run_emulated(const Launch& launch, void** arguments);

}  // namespace fake_cuda
