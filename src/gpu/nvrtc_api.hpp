#pragma once

// Internal to src/gpu: the one place that names NVRTC's functions.

#include <nvrtc.h>

#define FATUNE_NVRTC_FUNCTIONS(X) \
  X(nvrtcVersion)                 \
  X(nvrtcGetErrorString)          \
  X(nvrtcGetNumSupportedArchs)    \
  X(nvrtcGetSupportedArchs)       \
  X(nvrtcCreateProgram)           \
  X(nvrtcDestroyProgram)          \
  X(nvrtcAddNameExpression)       \
  X(nvrtcCompileProgram)          \
  X(nvrtcGetProgramLogSize)       \
  X(nvrtcGetProgramLog)           \
  X(nvrtcGetCUBINSize)            \
  X(nvrtcGetCUBIN)                \
  X(nvrtcGetPTXSize)              \
  X(nvrtcGetPTX)                  \
  X(nvrtcGetLoweredName)

namespace fatune::gpu {

struct NvrtcApi {
#define FATUNE_DECLARE(name) decltype(&::name) name = nullptr;
  FATUNE_NVRTC_FUNCTIONS(FATUNE_DECLARE)
#undef FATUNE_DECLARE
};

/// NVRTC's functions. Throws Error(bad_file) with probe_nvrtc()'s problem if NVRTC cannot be used.
[[nodiscard]] const NvrtcApi& nvrtc();

}  // namespace fatune::gpu
