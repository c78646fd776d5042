// Q, K, V and P of 8 bits: e4m3, which holds numbers up to 448, those from 2^-6 with a significand
// of four bits, and others down to 2^-9. FATUNE_EIGHT_BITS says whether the problem has them;
// without them, nothing here costs anything.
#ifndef FATUNE_KERNELS_COMMON_EIGHT_BITS_CUH
#define FATUNE_KERNELS_COMMON_EIGHT_BITS_CUH

#ifndef FATUNE_EIGHT_BITS
#define FATUNE_EIGHT_BITS 0
#endif

enum EightBitsFlag : bool { kEightBits = FATUNE_EIGHT_BITS != 0 };

// Returns the reference for a row's maximum, where a probability is 2^(scale_log2 * (score -
// reference)): the least one that makes no probability greater than 2^8 and is an integer as an
// exponent. So small ones are as far from the end of the format as they can be, and with integers a
// probability has the same significand, and is rounded alike, whichever keys were seen before.
// units: scores
__device__ __forceinline__ float reference_of_8_bits(float maximum, float scale_log2) {
  constexpr float kGreatestLog2 = 8.0f;
  return (ceilf(maximum * scale_log2) - kGreatestLog2) / scale_log2;
}

#endif
