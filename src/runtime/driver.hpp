#pragma once

// The CUDA driver's functions, loaded from its library, their ABI, and the GPUs of this machine. No
// header of CUDA is needed.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "attention.hpp"

namespace fatune_attention::detail {

// These match cuda.h; a test compares them.

/// CUlaunchAttribute.
struct LaunchAttribute {
  int id;
  char padding[4];
  union Value {
    struct Cluster {
      unsigned x, y, z;
    } cluster;
    int flag;
    std::uint64_t bits[8];
  } value;
};

/// CUlaunchConfig.
struct LaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned dynamic_smem_bytes;
  void* stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

namespace cuda {

inline constexpr int kSuccess = 0;
inline constexpr int kNotInitialized = 3;
inline constexpr int kInvalidContext = 201;
inline constexpr int kNoBinaryForGpu = 209;
inline constexpr int kNotReady = 600;

inline constexpr int kAttributeCooperative = 2;
inline constexpr int kAttributeClusterDimension = 4;
inline constexpr int kAttributeProgrammaticStreamSerialization = 6;

inline constexpr int kCaptureStatusNone = 0;
inline constexpr int kCaptureModeRelaxed = 2;

inline constexpr int kMaxDynamicSmemBytes = 8;
inline constexpr int kPreferredSmemCarveout = 9;
inline constexpr int kNonPortableClusterSizeAllowed = 14;

inline constexpr int kMaxThreadsPerBlock = 1;
inline constexpr int kMultiprocessorCount = 16;
inline constexpr int kMaxThreadsPerMultiprocessor = 39;
inline constexpr int kComputeCapabilityMajor = 75;
inline constexpr int kComputeCapabilityMinor = 76;
inline constexpr int kMaxSmemPerMultiprocessor = 81;
inline constexpr int kMaxRegistersPerMultiprocessor = 82;
inline constexpr int kMaxSmemPerBlockOptin = 97;

}  // namespace cuda

/// Name and type of each function. All return a CUresult. CUdevice is int, CUdeviceptr is
/// std::uint64_t, and handles are void*.
#define FATUNE_ATTENTION_DRIVER_FUNCTIONS(X)                                                      \
  X(cuDriverGetVersion, int(int* version))                                                        \
  X(cuGetErrorName, int(int error, const char** name))                                            \
  X(cuCtxGetDevice, int(int* device))                                                             \
  X(cuDeviceGetName, int(char* name, int bytes, int device))                                      \
  X(cuDeviceGetAttribute, int(int* value, int attribute, int device))                             \
  X(cuLibraryLoadData, int(void** library, const void* code, int* jit_options, void** jit_values, \
                           unsigned jit_count, int* options, void** values, unsigned count))      \
  X(cuLibraryGetKernel, int(void** kernel, void* library, const char* name))                      \
  X(cuKernelGetFunction, int(void** function, void* kernel))                                      \
  X(cuKernelSetAttribute, int(int attribute, int value, void* kernel, int device))                \
  X(cuTensorMapEncodeTiled, int(void* map, int type, std::uint32_t rank, void* address,           \
                                const std::uint64_t* sizes, const std::uint64_t* strides,         \
                                const std::uint32_t* box, const std::uint32_t* element_strides,   \
                                int interleave, int swizzle, int l2_promotion, int oob_fill))     \
  X(cuMemsetD32Async, int(std::uint64_t address, unsigned word, std::size_t words, void* stream)) \
  X(cuEventCreate, int(void** event, unsigned flags))                                             \
  X(cuEventDestroy_v2, int(void* event))                                                          \
  X(cuEventRecord, int(void* event, void* stream))                                                \
  X(cuEventQuery, int(void* event))                                                               \
  X(cuEventElapsedTime, int(float* ms, void* start, void* stop))                                  \
  X(cuStreamIsCapturing, int(void* stream, int* status))                                          \
  X(cuThreadExchangeStreamCaptureMode, int(int* mode))                                            \
  X(cuLaunchKernelEx,                                                                             \
    int(const LaunchConfig* config, void* function, void** arguments, void** extra))

struct Driver {
  Result status;  ///< unless it is ok, no function may be called
#define FATUNE_ATTENTION_MEMBER(name, type) std::add_pointer_t<type> name = nullptr;
  FATUNE_ATTENTION_DRIVER_FUNCTIONS(FATUNE_ATTENTION_MEMBER)
#undef FATUNE_ATTENTION_MEMBER
  int (*cuFuncLoad)(void* function) = nullptr;  ///< null before CUDA 12.4
};

/// Loads the driver at the first call.
const Driver& driver();

/// Returns any other function of the driver's library, or null if there is none.
void* driver_function(const char* name);

/// Translates a CUresult for callers of this library.
Result result_of(int error);

inline constexpr int kMostDevices = 64;

/// The device of the current context.
struct CurrentDevice {
  int ordinal = -1;               ///< the driver's CUdevice, less than kMostDevices
  const Device* facts = nullptr;  ///< lives as long as the program
};

/// Finds the device of the current context. Asks the driver for a device's facts only once.
Result find_current_device(CurrentDevice& current);

}  // namespace fatune_attention::detail
