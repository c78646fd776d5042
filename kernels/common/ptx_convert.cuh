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

#endif
