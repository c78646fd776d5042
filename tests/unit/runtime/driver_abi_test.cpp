// Compares the driver declarations of src/runtime with cuda.h.
#include "runtime/driver.hpp"

#include <cuda.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <type_traits>

#undef cuEventElapsedTime  // every driver has this name, as in src/gpu/cuda_api.hpp
extern "C" CUresult CUDAAPI cuEventElapsedTime(float* ms, CUevent start, CUevent stop);

namespace fatune_attention::detail {
namespace {

static_assert(sizeof(LaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(alignof(LaunchAttribute) == alignof(CUlaunchAttribute));
static_assert(offsetof(LaunchAttribute, id) == offsetof(CUlaunchAttribute, id));
static_assert(offsetof(LaunchAttribute, value) == offsetof(CUlaunchAttribute, value));
static_assert(offsetof(CUlaunchAttributeValue, clusterDim) == 0);
static_assert(offsetof(CUlaunchAttributeValue, cooperative) == 0);
static_assert(offsetof(CUlaunchAttributeValue, programmaticStreamSerializationAllowed) == 0);

static_assert(sizeof(LaunchConfig) == sizeof(CUlaunchConfig));
static_assert(offsetof(LaunchConfig, grid) == offsetof(CUlaunchConfig, gridDimX));
static_assert(offsetof(LaunchConfig, block) == offsetof(CUlaunchConfig, blockDimX));
static_assert(offsetof(LaunchConfig, dynamic_smem_bytes) ==
              offsetof(CUlaunchConfig, sharedMemBytes));
static_assert(offsetof(LaunchConfig, stream) == offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(LaunchConfig, attributes) == offsetof(CUlaunchConfig, attrs));
static_assert(offsetof(LaunchConfig, attribute_count) == offsetof(CUlaunchConfig, numAttrs));

static_assert(sizeof(CUtensorMap) == 128);
static_assert(sizeof(CUdeviceptr) == sizeof(std::uint64_t));
static_assert(std::is_same_v<CUdevice, int>);
static_assert(sizeof(CUresult) == sizeof(int));

static_assert(cuda::kSuccess == CUDA_SUCCESS);
static_assert(cuda::kNotInitialized == CUDA_ERROR_NOT_INITIALIZED);
static_assert(cuda::kInvalidContext == CUDA_ERROR_INVALID_CONTEXT);
static_assert(cuda::kNoBinaryForGpu == CUDA_ERROR_NO_BINARY_FOR_GPU);
static_assert(cuda::kAttributeCooperative == CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
static_assert(cuda::kAttributeClusterDimension == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
static_assert(cuda::kAttributeProgrammaticStreamSerialization ==
              CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
static_assert(cuda::kMaxDynamicSmemBytes == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(cuda::kPreferredSmemCarveout == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
static_assert(cuda::kNonPortableClusterSizeAllowed ==
              CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
static_assert(cuda::kMaxThreadsPerBlock == CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
static_assert(cuda::kMultiprocessorCount == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(cuda::kMaxThreadsPerMultiprocessor ==
              CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
static_assert(cuda::kComputeCapabilityMajor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(cuda::kComputeCapabilityMinor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(cuda::kMaxSmemPerMultiprocessor ==
              CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
static_assert(cuda::kMaxRegistersPerMultiprocessor ==
              CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
static_assert(cuda::kMaxSmemPerBlockOptin == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);

/// True if A and B are passed alike: they have the same size, and each is a pointer (or handle), an
/// integer or an enum.
template <typename A, typename B>
inline constexpr bool kPassedAlike =
    sizeof(A) == sizeof(B) && std::is_pointer_v<A> +
                                      (std::is_integral_v<A> ||
                                       std::is_enum_v<A>)+std::is_pointer_v<B> +
                                      (std::is_integral_v<B> || std::is_enum_v<B>) ==
                                  2;

template <typename A, typename B>
inline constexpr bool kSameParameters = false;
template <typename... A, typename... B>
requires(sizeof...(A) ==
         sizeof...(B)) inline constexpr bool kSameParameters<int (*)(A...), CUresult (*)(B...)> =
    (kPassedAlike<A, B> && ...);

#define EXPECT_SAME(name, type) \
  static_assert(kSameParameters<decltype(Driver::name), decltype(&::name)>);
FATUNE_ATTENTION_DRIVER_FUNCTIONS(EXPECT_SAME)
#undef EXPECT_SAME

TEST(DriverAbi, IsThatOfTheHeader) {
  SUCCEED();  // the assertions above are checked at compile time
}

}  // namespace
}  // namespace fatune_attention::detail
