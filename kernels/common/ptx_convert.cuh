// Conversions of one 16-bit element: one thin function per instruction, without cuda_fp16.h.
// source: PTX ISA, "Data Movement and Conversion Instructions: cvt"
#ifndef FATUNE_KERNELS_COMMON_PTX_CONVERT_CUH
#define FATUNE_KERNELS_COMMON_PTX_CONVERT_CUH

// Exact: every 16-bit element is an fp32 number. A bf16 is the upper half of one.
template <bool kIsBf16>
__device__ __forceinline__ float cvt_f32(unsigned short element) {
  if constexpr (kIsBf16) {
    return __uint_as_float(static_cast<unsigned>(element) << 16);
  } else {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(element));
    return value;
  }
}

// Nearest element, ties to even; overflow gives infinity.
template <bool kIsBf16>
__device__ __forceinline__ unsigned short cvt_rn(float value) {
  unsigned short element;
  if constexpr (kIsBf16) {
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(element) : "f"(value));
  } else {
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(element) : "f"(value));
  }
  return element;
}

// Two nearest elements of 8 bits, ties to even, `low` in the lower byte; the greatest ones in place
// of what is beyond them. Needs compute capability 8.9.
template <bool kIsE4m3>
__device__ __forceinline__ unsigned short cvt_rn_satfinite_x2(float low, float high) {
  unsigned short pair;
  if constexpr (kIsE4m3) {
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
  } else {
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
  }
  return pair;
}

// Exact: every element of 8 bits is an fp16. The lower byte becomes the lower half. Needs compute
// capability 8.9.
template <bool kIsE4m3>
__device__ __forceinline__ unsigned cvt_f16x2(unsigned short pair) {
  unsigned halves;
  if constexpr (kIsE4m3) {
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(pair));
  } else {
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(halves) : "h"(pair));
  }
  return halves;
}

#endif
