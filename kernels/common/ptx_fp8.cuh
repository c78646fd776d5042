// Conversions of 8-bit elements, without cuda_fp8.h: one thin function per instruction, and what
// four elements of a word become. They need compute capability 8.9. source: PTX ISA, "Data Movement
// and Conversion Instructions: cvt"
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

// Four nearest elements of e4m3, the first one in the lowest byte.
__device__ __forceinline__ unsigned cvt_rn_satfinite_e4m3x4(float a, float b, float c, float d) {
  unsigned four;
  asm("{\n\t.reg .b16 low, high;\n\tcvt.rn.satfinite.e4m3x2.f32 low, %2, %1;\n\t"
      "cvt.rn.satfinite.e4m3x2.f32 high, %4, %3;\n\tmov.b32 %0, {low, high};\n\t}"
      : "=r"(four)
      : "f"(a), "f"(b), "f"(c), "f"(d));
  return four;
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

// Two pairs of 16-bit elements.
struct TwoPairs {
  unsigned first, second;
};

// Elements 0 and 1 of four, and 2 and 3, as fp16. That the upper half is a register of its own lets
// the conversion read it where it is, instead of a shifted copy.
template <bool kIsE4m3>
__device__ __forceinline__ TwoPairs cvt_halves_of_four(unsigned four) {
  TwoPairs halves;
  if constexpr (kIsE4m3) {
    asm("{\n\t.reg .b16 low, high;\n\tmov.b32 {low, high}, %2;\n\t"
        "cvt.rn.f16x2.e4m3x2 %0, low;\n\tcvt.rn.f16x2.e4m3x2 %1, high;\n\t}"
        : "=r"(halves.first), "=r"(halves.second)
        : "r"(four));
  } else {
    asm("{\n\t.reg .b16 low, high;\n\tmov.b32 {low, high}, %2;\n\t"
        "cvt.rn.f16x2.e5m2x2 %0, low;\n\tcvt.rn.f16x2.e5m2x2 %1, high;\n\t}"
        : "=r"(halves.first), "=r"(halves.second)
        : "r"(four));
  }
  return halves;
}

// Sums of two halves each.
__device__ __forceinline__ unsigned add_f16x2(unsigned a, unsigned b) {
  unsigned sums;
  asm("add.f16x2 %0, %1, %2;" : "=r"(sums) : "r"(a), "r"(b));
  return sums;
}

// Bytes of a (0 to 3) and b (4 to 7), chosen by the hexadecimal digits of `digits`, the lowest
// first.
__device__ __forceinline__ unsigned prmt(unsigned a, unsigned b, unsigned digits) {
  unsigned bytes;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(bytes) : "r"(a), "r"(b), "r"(digits));
  return bytes;
}

// Elements 0 and 2 of four, and 1 and 3, as fp16. An e5m2 is the upper byte of one.
template <bool kIsE4m3>
__device__ __forceinline__ TwoPairs alternates(unsigned four) {
  if constexpr (kIsE4m3) {
    return cvt_halves_of_four<true>(prmt(four, 0, 0x3120));
  } else {
    return {prmt(four, 0, 0x2404), prmt(four, 0, 0x3414)};
  }
}

#endif
