#pragma once

#include <cuda.h>

#include "fake_cuda/module.hpp"

namespace fake_cuda {

/// Runs a kernel on the emulator, in the fake's device memory. Gives what becomes of the context:
/// the error that a GPU would have ended the kernel with; CUDA_ERROR_NOT_SUPPORTED, whose text says
/// why, where the emulator cannot run it.
[[nodiscard]] CUresult run_emulated(const Launch& launch, void** arguments);

}  // namespace fake_cuda
