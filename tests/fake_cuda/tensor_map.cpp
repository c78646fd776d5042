// Tensor maps in the emulator's own format, which its kernels read.
#include <cuda.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "emulator/memory/tensor_map.hpp"
#include "fake_cuda/script.hpp"
#include "fake_cuda/state.hpp"
#include "model/kernel_code.hpp"

#if !defined(FAKE_CUDA_OLD) && CUDA_VERSION >= 12000

using fatune::emulate::Swizzle;
using fatune::emulate::TensorMap;

namespace {

bool is_emulated(CUtensorMapDataType type, CUtensorMapInterleave interleave,
                 CUtensorMapSwizzle swizzle) {
  return interleave == CU_TENSOR_MAP_INTERLEAVE_NONE && swizzle <= CU_TENSOR_MAP_SWIZZLE_128B &&
         type <= CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
}

CUresult encode(const TensorMap& map, CUtensorMap* to) {
  try {
    const auto bytes = fatune::emulate::encode_tensor_map(map);
    std::memcpy(to, bytes.data(), bytes.size());
    return CUDA_SUCCESS;
  } catch (const std::invalid_argument&) {
    return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace

extern "C" CUresult cuTensorMapEncodeTiled(CUtensorMap* to, CUtensorMapDataType type,
                                           cuuint32_t rank, void* address, const cuuint64_t* sizes,
                                           const cuuint64_t* strides, const cuuint32_t* box,
                                           const cuuint32_t* steps,
                                           CUtensorMapInterleave interleave,
                                           CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
                                           CUtensorMapFloatOOBfill fill) {
  FAKE_GATE("cuTensorMapEncodeTiled");
  TensorMap map;
  if (rank < 1 || rank > map.sizes.size()) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (!is_emulated(type, interleave, swizzle)) {
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  map.element_bytes = static_cast<std::uint8_t>(fatune::kTensorMapElementBytes.at(type));
  map.rank = static_cast<std::uint8_t>(rank);
  map.address = reinterpret_cast<std::uint64_t>(address);
  std::copy_n(sizes, rank, map.sizes.begin());
  map.strides[0] = map.element_bytes;
  std::copy_n(strides, rank - 1, map.strides.begin() + 1);
  std::copy_n(box, rank, map.box.begin());
  std::transform(steps, steps + rank, map.steps.begin(),
                 [](cuuint32_t step) { return static_cast<std::uint8_t>(std::min(step, 255U)); });
  map.swizzle = static_cast<Swizzle>(swizzle);
  map.fills_nan = fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE ? 1 : 0;
  return encode(map, to);
}

#endif
