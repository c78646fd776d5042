// Counter-based random numbers: every value is a function of (seed, counter), so any element of any
// tensor can be made again by any thread.
// source: J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011): Philox4x32-10
#ifndef FATUNE_KERNELS_REFERENCE_PHILOX_CUH
#define FATUNE_KERNELS_REFERENCE_PHILOX_CUH

// 128 random bits.
__device__ __forceinline__ uint4 philox4x32(uint4 counter, unsigned long long seed) {
  constexpr unsigned kMultiplierX = 0xd2511f53u;
  constexpr unsigned kMultiplierZ = 0xcd9e8d57u;
  constexpr unsigned kWeylX = 0x9e3779b9u;
  constexpr unsigned kWeylY = 0xbb67ae85u;
  unsigned key_x = static_cast<unsigned>(seed);
  unsigned key_y = static_cast<unsigned>(seed >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const unsigned high_x = __umulhi(kMultiplierX, counter.x);
    const unsigned high_z = __umulhi(kMultiplierZ, counter.z);
    counter = make_uint4(high_z ^ counter.y ^ key_x, kMultiplierZ * counter.z,
                         high_x ^ counter.w ^ key_y, kMultiplierX * counter.x);
    key_x += kWeylX;
    key_y += kWeylY;
  }
  return counter;
}

// Two independent normal(0, 1) numbers from 64 random bits; at most 6.8 in magnitude.
// source: Box and Muller (1958)
__device__ __forceinline__ float2 normal_pair(unsigned x, unsigned y) {
  constexpr float kTwoToMinus32 = 2.3283064365386963e-10f;
  const float uniform = static_cast<float>(x) * kTwoToMinus32 + 0.5f * kTwoToMinus32;  // > 0
  const float radius = sqrtf(-2.0f * logf(uniform));
  float sine, cosine;
  sincospif(2.0f * kTwoToMinus32 * static_cast<float>(y), &sine, &cosine);
  return make_float2(radius * cosine, radius * sine);
}

#endif
