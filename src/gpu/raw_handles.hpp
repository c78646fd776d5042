#pragma once

// Internal to src/gpu: the driver's handles inside this folder's classes.

#include <cuda.h>

#include "gpu/context.hpp"
#include "gpu/module.hpp"

namespace fatune::gpu {

inline CUstream raw(const Stream& stream) { return static_cast<CUstream>(stream.get()); }
inline CUevent raw(const Event& event) { return static_cast<CUevent>(event.get()); }
inline CUfunction raw(const Function& function) { return static_cast<CUfunction>(function.get()); }

}  // namespace fatune::gpu
