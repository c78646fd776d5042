// Attention sinks: a head has a score of its own, which counts in the softmax's denominator like
// that of a key with a value of 0. FATUNE_SINKS says whether the problem has them; without them,
// nothing here costs anything.
#ifndef FATUNE_KERNELS_COMMON_SINK_CUH
#define FATUNE_KERNELS_COMMON_SINK_CUH

#include "common/ptx_math.cuh"

#ifndef FATUNE_SINKS
#define FATUNE_SINKS 0
#endif

enum SinksFlag : bool { kSinks = FATUNE_SINKS != 0 };

// The sink of a head, a scaled score; without sinks, minus infinity.
// shape: args.sinks: (heads)
template <typename Args>
__device__ __forceinline__ float sink_of(const Args& args, int head) {
  if constexpr (kSinks) {
    return __ldg(args.sinks + head);
  } else {
    return negative_infinity();
  }
}

// Adds a sink to the sums of a row, which may have seen no key. The sink comes last, so that
// probabilities are as exact as without it, however large it is.
// units: reference: times unit_log2 it is an exponent of two; sum: relative to it; sink: a scaled
//        score
// Returns the factor by which the row's O has to be multiplied.
__device__ __forceinline__ float add_sink(float& reference, float& sum, float sink,
                                          float unit_log2) {
  constexpr float kLog2e = 1.44269504088896340736f;
  const float score = sink * (kLog2e / unit_log2);
  const float raised = fmaxf(reference, score);
  const float base = raised == negative_infinity() ? 0.0f : raised;
  const float factor = ex2_approx_ftz((reference - base) * unit_log2);
  sum = fmaf(sum, factor, ex2_approx_ftz((score - base) * unit_log2));
  reference = raised;
  return factor;
}

#endif
