// Online softmax of scores whose probabilities become e4m3. With elements of 8 bits it takes the
// place of the steps of common/online_softmax.cuh.
#ifndef FATUNE_KERNELS_FLASH_SM90_EIGHT_BIT_SOFTMAX_CUH
#define FATUNE_KERNELS_FLASH_SM90_EIGHT_BIT_SOFTMAX_CUH

#include "common/eight_bits.cuh"
#include "common/online_softmax.cuh"
#include "common/ptx_math.cuh"
#include "common/quad.cuh"

// Returns the exponent of two that a row's greatest probability has at most when its reference is
// set. A reference is an integer, so that a probability has the same significand, and is rounded
// alike, whichever keys were seen before. 8 is as far from the end of the format as it can be. In a
// row of many keys (has_many_keys) those whose probabilities are subnormal weigh little beside the
// others, and with 6 the row's maximum can grow by 2^2.75 before the reference has to follow.
__device__ __forceinline__ constexpr float first_log2(bool many) { return many ? 6.0f : 8.0f; }

// Whether the row's sum is at least four times its greatest probability.
// units: maximum: the greatest score as an exponent of two; sum: relative to 2^reference
__device__ __forceinline__ bool has_many_keys(float maximum, float sum, float reference) {
  return lg2_approx_ftz(sum) >= maximum - reference + 2.0f;
}

// Returns what thread_max() does if that is not negative, else some negative number. Scores are
// compared as integers, of which an instruction takes three.
template <int kKeys>
__device__ __forceinline__ float thread_max_from_0(const float* s, int h) {
  int greatest[2] = {__float_as_int(s[2 * h]), __float_as_int(s[4 + 2 * h])};
  greatest[0] = max(greatest[0], __float_as_int(s[2 * h + 1]));
  greatest[1] = max(greatest[1], __float_as_int(s[5 + 2 * h]));
#pragma unroll
  for (int i = 8 + 2 * h; i < kKeys / 2; i += 4) {
    int& of = greatest[i / 4 % 2];
    of = max(max(of, __float_as_int(s[i])), __float_as_int(s[i + 1]));
  }
  return __int_as_float(max(greatest[0], greatest[1]));
}

// Whether a score of thread_max_from_0() needs another reference. If the reference is so low that a
// negative score may need one too, the answer is yes.
__device__ __forceinline__ bool may_outgrow(float score, float scale_log2, float reference) {
  constexpr float kGreatestLog2 = 8.75f;  // rounded to 416 or 448, the greatest e4m3
  return (fmaf(score, scale_log2, -reference) > kGreatestLog2) | (reference < -kGreatestLog2);
}

// Moves references up to what scores of a step's first kKeys keys need.
// shape:   sums: of the rows' probabilities in this thread's columns, of the keys before
// threads: one warp, converged
template <int kKeys, typename S>
__device__ __forceinline__ Rescale follow_maxima_of_8_bits(const float (&s)[S::kScores],
                                                           SoftmaxState& state,
                                                           const float (&sums)[2],
                                                           float scale_log2) {
  Rescale rescale{true, {1.0f, 1.0f}};
  if constexpr (S::kLazyRescale) {
    rescale.needed =
        __any_sync(0xffffffffu,
                   may_outgrow(thread_max_from_0<kKeys>(s, 0), scale_log2, state.reference[0]) |
                       may_outgrow(thread_max_from_0<kKeys>(s, 1), scale_log2, state.reference[1]));
  }
  if (rescale.needed) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float maximum = quad_max(thread_max<kKeys>(s, h)) * scale_log2;
      const bool many = has_many_keys(maximum, quad_sum(sums[h]), state.reference[h]);
      raise_reference(state, h, ceilf(maximum) - first_log2(many), reference_unit(scale_log2),
                      rescale);
    }
  }
  return rescale;
}

// Turns scores of a tile's first step into probabilities in place. Their sums say which rows have
// many keys.
// shape: state: references are set, and sums are those of the step
// threads: one warp, converged
template <int kKeys, typename S>
__device__ __forceinline__ void first_softmax_step_of_8_bits(float (&s)[S::kScores],
                                                             SoftmaxState& state,
                                                             float scale_log2) {
  bool few[2];
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const float maximum = quad_max(thread_max<kKeys>(s, h)) * scale_log2;
    state.reference[h] = fmaxf(kNothingSeen, ceilf(maximum) - first_log2(true));
    state.sum[h] = exponentiate<kKeys, S>(s, h, state, scale_log2);
    few[h] = !has_many_keys(maximum, quad_sum(state.sum[h]), state.reference[h]);
  }
  if (__any_sync(0xffffffffu, few[0] | few[1])) {
    constexpr float kLower = first_log2(false) - first_log2(true);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float factor = few[h] ? 0x1p2f : 1.0f;
      state.reference[h] -= few[h] ? kLower : 0.0f;
      state.sum[h] *= factor;
#pragma unroll
      for (int i = 2 * h; i < kKeys / 2; i += 4) {
        s[i] *= factor;
        s[i + 1] *= factor;
      }
    }
  }
}

// Turns scores of a step's first kKeys keys into probabilities in place, and adds to the row sums.
// shape, threads: as follow_maxima_of_8_bits
template <int kKeys, typename S>
__device__ __forceinline__ Rescale softmax_step_of_8_bits(float (&s)[S::kScores],
                                                          SoftmaxState& state,
                                                          const float (&sums)[2],
                                                          float scale_log2) {
  const Rescale rescale = follow_maxima_of_8_bits<kKeys, S>(s, state, sums, scale_log2);
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    state.sum[h] += exponentiate<kKeys, S>(s, h, state, scale_log2);
  }
  return rescale;
}

#endif
