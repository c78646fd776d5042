#include "gpu/tensor_map.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/kernel_arguments.hpp"
#include "gpu/cuda_api.hpp"
#include "gpu/driver.hpp"

namespace fatune::gpu {

std::string describe(const TensorMapPiece& map, DevicePtr address) {
  return fmt::format(
      "{} of {} at {:#x}, {}: sizes {}, strides {} bytes, box {}, element strides {}, swizzle {}, "
      "interleave {}, l2_promotion {}, oob_fill {}",
      kTensorMapCall, map.tensor, address, map.element_type, fmt::join(map.sizes, " x "),
      fmt::join(map.strides_bytes, ", "), fmt::join(map.box, " x "),
      fmt::join(map.element_strides, ", "), map.swizzle, map.interleave, map.l2_promotion,
      map.oob_fill);
}

#if CUDA_VERSION >= 12000

namespace {

constexpr std::size_t kMostDimensions = 5;

static_assert(sizeof(CUtensorMap) == kTensorMapArgumentBytes);
static_assert(CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ == kTensorMapElementTypes.size() - 1);
static_assert(CU_TENSOR_MAP_SWIZZLE_128B == 3 && CU_TENSOR_MAP_INTERLEAVE_32B == 2 &&
              CU_TENSOR_MAP_L2_PROMOTION_L2_256B == 3 &&
              CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA == 1);

template <typename Enum>
Enum value_of(std::span<const std::string_view> names, const std::string& name) {
  return static_cast<Enum>(index_of_name(names, name));
}

template <typename Number>
std::array<Number, kMostDimensions> numbers(const std::vector<std::int64_t>& of) {
  std::array<Number, kMostDimensions> all{};
  for (std::size_t i = 0; i < std::min(of.size(), all.size()); ++i) {
    all.at(i) = static_cast<Number>(of[i]);
  }
  return all;
}

CUresult encode(const TensorMapPiece& map, DevicePtr address, CUtensorMap& to) {
  const auto sizes = numbers<cuuint64_t>(map.sizes);
  const auto strides = numbers<cuuint64_t>(map.strides_bytes);
  const auto box = numbers<cuuint32_t>(map.box);
  const auto element_strides = numbers<cuuint32_t>(map.element_strides);
  return api().cuTensorMapEncodeTiled(
      &to, value_of<CUtensorMapDataType>(kTensorMapElementTypes, map.element_type),
      static_cast<cuuint32_t>(map.sizes.size()),
      reinterpret_cast<void*>(address),  // NOLINT(performance-no-int-to-ptr)
      sizes.data(), strides.data(), box.data(), element_strides.data(),
      value_of<CUtensorMapInterleave>(kTensorMapInterleaves, map.interleave),
      value_of<CUtensorMapSwizzle>(kTensorMapSwizzles, map.swizzle),
      value_of<CUtensorMapL2promotion>(kTensorMapL2Promotions, map.l2_promotion),
      value_of<CUtensorMapFloatOOBfill>(kTensorMapOobFills, map.oob_fill));
}

}  // namespace

TensorMapBytes encode_tensor_map(const TensorMapPiece& map, DevicePtr address) {
  if (api().cuTensorMapEncodeTiled == nullptr) {
    throw Error(ExitCode::gpu_failure, "the driver does not support tensor maps", {},
                "update the NVIDIA driver");
  }
  CUtensorMap encoded{};
  const CUresult result = encode(map, address, encoded);
  if (result != CUDA_SUCCESS) {
    check(result, describe(map, address).c_str());
  }
  TensorMapBytes bytes{};
  std::memcpy(bytes.data(), &encoded, sizeof encoded);
  return bytes;
}

#else

TensorMapBytes encode_tensor_map(const TensorMapPiece& map, DevicePtr address) {
  throw Error(ExitCode::gpu_failure, "fatune was built without tensor maps", describe(map, address),
              "build it with CUDA 12 or newer");
}

#endif

}  // namespace fatune::gpu
