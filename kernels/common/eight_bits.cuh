// Q, K, V and P of 8 bits: e4m3, which holds numbers up to 448, those from 2^-6 with a significand
// of four bits, and others down to 2^-9. FATUNE_EIGHT_BITS says whether the problem has them;
// without them, nothing here costs anything.
#ifndef FATUNE_KERNELS_COMMON_EIGHT_BITS_CUH
#define FATUNE_KERNELS_COMMON_EIGHT_BITS_CUH

#ifndef FATUNE_EIGHT_BITS
#define FATUNE_EIGHT_BITS 0
#endif

enum EightBitsFlag : bool { kEightBits = FATUNE_EIGHT_BITS != 0 };

// Returns what makes a softmax's reference an exponent of two: scores need a factor, but those of 8
// bits are exponents.
__device__ __forceinline__ float reference_unit(float scale_log2) {
  return kEightBits ? 1.0f : scale_log2;
}

#endif
