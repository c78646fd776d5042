// The problem's element type and head dimension, from the compiler's defines.
#ifndef FATUNE_KERNELS_REFERENCE_ELEMENT_CUH
#define FATUNE_KERNELS_REFERENCE_ELEMENT_CUH

#include "common/ptx_convert.cuh"

using Element = unsigned short;

inline constexpr bool kIsBf16 = FATUNE_IS_BF16;
inline constexpr int kHeadDim = FATUNE_HEAD_DIM;
// All exponent bits set: infinity or NaN.
inline constexpr unsigned kExponentMask = kIsBf16 ? 0x7f80u : 0x7c00u;

static_assert(kHeadDim % 8 == 0, "rows are read 16 bytes at a time");

__device__ __forceinline__ float element_value(Element element) {
  return cvt_f32<kIsBf16>(element);
}
__device__ __forceinline__ Element round_element(float value) { return cvt_rn<kIsBf16>(value); }
__device__ __forceinline__ bool is_finite(Element element) {
  return (element & kExponentMask) != kExponentMask;
}

#endif
