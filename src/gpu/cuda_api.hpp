#pragma once

// Internal to src/gpu: the one place that names driver functions. cuda.h renames a function to its
// current version by macro (cuMemAlloc is cuMemAlloc_v2); the lists below pass through that macro,
// so that the symbol asked for and the declaration always agree.

#include <cuda.h>

#include <source_location>

#include "gpu/context.hpp"
#include "gpu/module.hpp"

// CUDA 12.8 renamed this function to a _v2 that older drivers lack. Every driver has this one.
#undef cuEventElapsedTime
extern "C" CUresult CUDAAPI cuEventElapsedTime(float* ms, CUevent start, CUevent stop);

// Declarations from cudaProfiler.h, which is not installed beside every cuda.h.
extern "C" CUresult CUDAAPI cuProfilerStart();
extern "C" CUresult CUDAAPI cuProfilerStop();

#if CUDA_VERSION >= 12040
#define FATUNE_LOAD_FUNCTIONS(X) X(cuFuncLoad)
#else
#define FATUNE_LOAD_FUNCTIONS(X)
#endif

// These are null if the driver is older than the function.
#define FATUNE_OPTIONAL_DRIVER_FUNCTIONS(X) \
  X(cuGraphCreate)                          \
  X(cuGraphAddKernelNode)                   \
  X(cuGraphInstantiateWithFlags)            \
  X(cuGraphLaunch)                          \
  X(cuGraphExecDestroy)                     \
  X(cuGraphDestroy)                         \
  X(cuLaunchKernelEx)                       \
  X(cuGraphKernelNodeSetAttribute)          \
  X(cuTensorMapEncodeTiled)                 \
  FATUNE_LOAD_FUNCTIONS(X)

#define FATUNE_DRIVER_FUNCTIONS(X) \
  X(cuInit)                        \
  X(cuDriverGetVersion)            \
  X(cuGetErrorName)                \
  X(cuGetErrorString)              \
  X(cuDeviceGetCount)              \
  X(cuDeviceGetName)               \
  X(cuDeviceGetUuid)               \
  X(cuDeviceTotalMem)              \
  X(cuDeviceGetAttribute)          \
  X(cuDevicePrimaryCtxRetain)      \
  X(cuDevicePrimaryCtxRelease)     \
  X(cuCtxSetCurrent)               \
  X(cuCtxSynchronize)              \
  X(cuMemGetInfo)                  \
  X(cuMemAlloc)                    \
  X(cuMemFree)                     \
  X(cuMemHostAlloc)                \
  X(cuMemFreeHost)                 \
  X(cuMemHostGetDevicePointer)     \
  X(cuMemsetD32Async)              \
  X(cuMemcpyHtoDAsync)             \
  X(cuMemcpyDtoHAsync)             \
  X(cuStreamCreate)                \
  X(cuStreamDestroy)               \
  X(cuStreamSynchronize)           \
  X(cuEventCreate)                 \
  X(cuEventDestroy)                \
  X(cuEventRecord)                 \
  X(cuEventSynchronize)            \
  X(cuEventElapsedTime)            \
  X(cuModuleLoadData)              \
  X(cuModuleUnload)                \
  X(cuModuleGetFunction)           \
  X(cuFuncGetAttribute)            \
  X(cuFuncSetAttribute)            \
  X(cuProfilerStart)               \
  X(cuProfilerStop)                \
  X(cuLaunchKernel)

namespace fatune::gpu {

/// The driver's functions, found in its library at run time.
struct DriverApi {
#define FATUNE_MEMBER(name) decltype(&::name) name = nullptr;
  FATUNE_DRIVER_FUNCTIONS(FATUNE_MEMBER)
  FATUNE_OPTIONAL_DRIVER_FUNCTIONS(FATUNE_MEMBER)
#undef FATUNE_MEMBER
};

/// Throws Error(no_gpu) with the probe's problem and remedy unless the driver is usable.
[[nodiscard]] const DriverApi& api();

/// Throws DriverError unless the call succeeded.
void check(CUresult result, const char* call,
           std::source_location where = std::source_location::current());

/// For destructors: logs unless the call succeeded. Failures that follow from a dead context or
/// from the end of the process are logged at debug level only, because they say nothing new.
void log_failed_release(CUresult result, const char* call) noexcept;

// The driver's handles inside this folder's classes.
inline CUstream raw(const Stream& stream) { return static_cast<CUstream>(stream.get()); }
inline CUevent raw(const Event& event) { return static_cast<CUevent>(event.get()); }
inline CUfunction raw(const Function& function) { return static_cast<CUfunction>(function.get()); }

}  // namespace fatune::gpu
