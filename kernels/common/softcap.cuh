// Soft-capped scores: a scaled score s becomes softcap * tanh(s / softcap). FATUNE_SOFTCAP says
// whether the problem has a cap; without one, nothing here costs anything.
#ifndef FATUNE_KERNELS_COMMON_SOFTCAP_CUH
#define FATUNE_KERNELS_COMMON_SOFTCAP_CUH

#include "common/ptx_math.cuh"

#ifndef FATUNE_SOFTCAP
#define FATUNE_SOFTCAP 0
#endif

enum SoftcapFlag : bool { kSoftcap = FATUNE_SOFTCAP != 0 };

// Returns the factor that makes a scaled score of what the softmax is given: of a product q.k, or
// with a cap of what cap_score() returns.
// units: args: softmax_scale, and softcap if the problem has a cap
template <typename Args>
__device__ __forceinline__ float score_unit(const Args& args) {
  if constexpr (kSoftcap) {
    return args.softcap;
  } else {
    return args.softmax_scale;
  }
}

// Makes a product q.k a number from -1 to 1, in units of the cap; without a cap, returns it as it
// is. Call it before the mask, whose minus infinity it does not keep.
// units: args: as score_unit
template <typename Args>
__device__ __forceinline__ float cap_score(float product, const Args& args) {
  if constexpr (kSoftcap) {
    return tanh_approx(product * (args.softmax_scale / args.softcap));
  } else {
    return product;
  }
}

// cap_score() of the first kCount scores.
template <int kCount, int kScores, typename Args>
__device__ __forceinline__ void cap_scores(float (&s)[kScores], const Args& args) {
  if constexpr (kSoftcap) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      s[i] = cap_score(s[i], args);
    }
  }
}

#endif
