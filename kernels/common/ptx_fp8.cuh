// Conversions of two 8-bit elements: one thin function per instruction, without cuda_fp8.h. They
// need compute capability 8.9. source: PTX ISA, "Data Movement and Conversion Instructions: cvt"
#ifndef FATUNE_KERNELS_COMMON_PTX_FP8_CUH
#define FATUNE_KERNELS_COMMON_PTX_FP8_CUH

// Two nearest elements of 8 bits, ties to even, `low` in the lower byte; the greatest ones in place
// of what is beyond them.
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

// Exact: every element of 8 bits is an fp16. The lower byte becomes the lower half.
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
