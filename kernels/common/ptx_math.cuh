// Arithmetic that has no operator: one thin function per instruction.
// source: PTX ISA, "Floating point instructions", "cvt"
#ifndef FATUNE_KERNELS_COMMON_PTX_MATH_CUH
#define FATUNE_KERNELS_COMMON_PTX_MATH_CUH

// Minus infinity without a header.
__device__ __forceinline__ float negative_infinity() { return __int_as_float(0xff800000); }

// 2^x, flushing denormals: without .ftz each call costs a compare and two multiplies more.
__device__ __forceinline__ float ex2_approx_ftz(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// Hyperbolic tangent, wrong by at most 2^-11 of its value.
__device__ __forceinline__ float tanh_approx(float x) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// Logarithm to base two; 0 and denormals give minus infinity.
__device__ __forceinline__ float lg2_approx_ftz(float x) {
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// Two fp32 to two 16-bit elements, rounded to nearest even; `low` lands in the low half.
template <bool kIsBf16>
__device__ __forceinline__ unsigned cvt_rn_x2(float low, float high) {
  unsigned packed;
  if constexpr (kIsBf16) {
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  } else {
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  }
  return packed;
}

#endif
