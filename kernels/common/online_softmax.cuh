// Online softmax of the 64 rows that a warpgroup has in accumulators of wgmma, fp32, base 2:
// p = 2^(scale_log2 * (s - reference)). S is a family's Shape: kScores and kOutputs accumulators of
// a thread, kLazyRescale, kIsBf16. source:  Milakov & Gimelshein, "Online normalizer calculation
// for softmax" (2018); rows are
//          rescaled lazily as in FlashAttention-4's description: see kLazyRescaleLog2.
#ifndef FATUNE_KERNELS_COMMON_ONLINE_SOFTMAX_CUH
#define FATUNE_KERNELS_COMMON_ONLINE_SOFTMAX_CUH

#include "common/eight_bits.cuh"
#include "common/ptx_math.cuh"
#include "common/quad.cuh"

// lazy_rescale: a row's reference follows its maximum only when the maximum has outgrown it by this
// factor of two (log2 units). Probabilities then reach at most 2^8, which fp16 and bf16 hold with
// full relative precision, and sums are fp32.
inline constexpr float kLazyRescaleLog2 = 8.0f;

// Less than any score, and finite: the exponent of a masked score relative to it is minus infinity,
// and not NaN.
inline constexpr float kNothingSeen = -1e30f;

// A thread has parts of two rows: row 16 * warp + 8 * h + lane / 4 of the consumer, which four
// neighbouring lanes share. Element i of its sums is of row h = i / 2 % 2.
struct SoftmaxState {
  float reference[2];  // what exponents are relative to; units: reference_unit
  float sum[2];        // over this thread's columns only, until normalise_output
};

// What a step does to O.
struct Rescale {
  bool needed;      // warp-uniform
  float factor[2];  // factor of row h
};

// Returns the greatest score of row h in this thread's columns, among a step's first kKeys keys.
// Two independent chains hide the latency.
template <int kKeys>
__device__ __forceinline__ float thread_max(const float* s, int h) {
  float even = s[2 * h];
  float odd = s[2 * h + 1];
#pragma unroll
  for (int i = 4 + 2 * h; i < kKeys / 2; i += 4) {
    even = fmaxf(even, s[i]);
    odd = fmaxf(odd, s[i + 1]);
  }
  return fmaxf(even, odd);
}

// Moves the reference of row h up to `needed`, unless it is beyond.
// units: needed: as references; reference_unit: the function of that name
__device__ __forceinline__ void raise_reference(SoftmaxState& state, int h, float needed,
                                                float reference_unit, Rescale& rescale) {
  const float raised = fmaxf(state.reference[h], needed);
  rescale.factor[h] = ex2_approx_ftz((state.reference[h] - raised) * reference_unit);
  state.sum[h] *= rescale.factor[h];
  state.reference[h] = raised;
}

// Moves references up to the maxima of `seen`; each lane of a row has its own maximum.
// threads: one warp, converged
__device__ __forceinline__ void raise_references(SoftmaxState& state, const float (&seen)[2],
                                                 float scale_log2, Rescale& rescale) {
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    raise_reference(state, h, quad_max(seen[h]), scale_log2, rescale);
  }
}

// Turns the scores of row h, among a step's first kKeys keys, into probabilities in place. Returns
// their sum over this thread's columns.
// units: s: raw scores, masked ones minus infinity
template <int kKeys, typename S>
__device__ __forceinline__ float exponentiate(float (&s)[S::kScores], int h,
                                              const SoftmaxState& state, float scale_log2) {
  const float bias = state.reference[h] * reference_unit(scale_log2);
  float even = 0.0f;
  float odd = 0.0f;
#pragma unroll
  for (int i = 2 * h; i < kKeys / 2; i += 4) {
    s[i] = ex2_approx_ftz(fmaf(s[i], scale_log2, -bias));
    s[i + 1] = ex2_approx_ftz(fmaf(s[i + 1], scale_log2, -bias));
    even += s[i];
    odd += s[i + 1];
  }
  return even + odd;
}

// Moves references up to what scores of a step's first kKeys keys need.
// units:   as exponentiate
// threads: one warp, converged
template <int kKeys, typename S>
__device__ __forceinline__ Rescale follow_maxima(const float (&s)[S::kScores], SoftmaxState& state,
                                                 float scale_log2) {
  const float seen[2] = {thread_max<kKeys>(s, 0), thread_max<kKeys>(s, 1)};
  Rescale rescale{true, {1.0f, 1.0f}};
  if constexpr (S::kLazyRescale) {
    const float slack = kLazyRescaleLog2 / scale_log2;
    rescale.needed = __any_sync(
        0xffffffffu, seen[0] > state.reference[0] + slack || seen[1] > state.reference[1] + slack);
  }
  if (rescale.needed) {
    raise_references(state, seen, scale_log2, rescale);
  }
  return rescale;
}

// Turns scores of a step's first kKeys keys into probabilities in place, and adds to the row sums.
// units:   as exponentiate
// threads: one warp, converged
template <int kKeys, typename S>
__device__ __forceinline__ Rescale softmax_step(float (&s)[S::kScores], SoftmaxState& state,
                                                float scale_log2) {
  const Rescale rescale = follow_maxima<kKeys, S>(s, state, scale_log2);
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    state.sum[h] += exponentiate<kKeys, S>(s, h, state, scale_log2);
  }
  return rescale;
}

// The same without a look at the maxima: references stay what they are. A probability that fp16
// may not hold makes a sum too great. Then this returns false for the whole warp, and `state` is as
// before: call softmax_step with the scores, which are lost.
// units:   as exponentiate
// threads: one warp, converged
template <int kKeys, typename S>
__device__ __forceinline__ bool softmax_step_without_max(float (&s)[S::kScores],
                                                         SoftmaxState& state, float scale_log2) {
  constexpr float kMost = 0x1p14f;
  const float sum[2] = {exponentiate<kKeys, S>(s, 0, state, scale_log2),
                        exponentiate<kKeys, S>(s, 1, state, scale_log2)};
  if (__any_sync(0xffffffffu, !(sum[0] <= kMost && sum[1] <= kMost))) {
    return false;
  }
  state.sum[0] += sum[0];
  state.sum[1] += sum[1];
  return true;
}

template <typename S, int kOutputs>
__device__ __forceinline__ void rescale_output(float (&o)[kOutputs], const Rescale& rescale) {
  if (rescale.needed) {
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) {
      o[i] *= rescale.factor[i / 2 % 2];
    }
  }
}

// Packs probabilities of a step's first kKeys keys into the operand of wgmma_registers.
template <int kKeys, typename S>
__device__ __forceinline__ void pack_probabilities(unsigned (&p)[S::kScores / 2],
                                                   const float (&s)[S::kScores]) {
#pragma unroll
  for (int i = 0; i < kKeys / 4; ++i) {
    p[i] = cvt_rn_x2<S::kIsBf16>(s[2 * i], s[2 * i + 1]);
  }
}

#endif
