// Online softmax of one warp's rows, fp32, base 2: p = 2^(scale_log2 * (s - m)).
// source:  Milakov & Gimelshein, "Online normalizer calculation for softmax" (2018); rows are
//          rescaled lazily as in FlashAttention-4's description: see kLazyRescale.
#ifndef FATUNE_KERNELS_FLASH_SM80_SOFTMAX_CUH
#define FATUNE_KERNELS_FLASH_SM80_SOFTMAX_CUH

#include "common/ptx_math.cuh"
#include "common/quad.cuh"
#include "common/sink.cuh"
#include "flash_sm80/mma_tiles.cuh"

// State of a lane's rows: row (m, h) is row 16 m + 8 h + lane/4 of the warp, shared by four lanes.
template <typename S>
struct SoftmaxState {
  float reference[S::kRowTiles][2];  // m: what exponents are relative to
  float sum[S::kRowTiles][2];        // l: this lane's columns only, until normalise_output
};

// optimized_softmax: a row's reference follows its maximum only when the maximum has outgrown it by
// this factor of two (log2 units). Probabilities then reach at most 2^8, which fp16 and bf16 hold
// with full relative precision, sums are fp32, and after the first few tiles neither O is rescaled
// nor the maximum exchanged between lanes.
inline constexpr float kLazyRescaleLog2 = 8.0f;

// Greatest score of row (m, h) in this lane's columns.
template <typename S>
__device__ __forceinline__ float lane_max(const ScoreFragment<S>& rS, int m, int h) {
  float greatest = fmaxf(rS[m][0][2 * h], rS[m][0][2 * h + 1]);
#pragma unroll
  for (int n = 1; n < S::kKeyTiles; ++n) {
    greatest = fmaxf(greatest, fmaxf(rS[m][n][2 * h], rS[m][n][2 * h + 1]));
  }
  return greatest;
}

// What exponents of a row are taken relative to; a row that has seen only masked scores gets 0, so
// that its probabilities are 2^-inf = 0 and not NaN.
template <typename S>
__device__ __forceinline__ float exponent_base(float reference) {
  if constexpr (S::kRowMayBeMasked) {
    return reference == negative_infinity() ? 0.0f : reference;
  }
  return reference;
}

// Multiplies row (m, h) of O and its sum by factor.
template <typename S>
__device__ __forceinline__ void rescale_row(OutputFragment<S>& rO, SoftmaxState<S>& state, int m,
                                            int h, float factor) {
  state.sum[m][h] *= factor;
#pragma unroll
  for (int n = 0; n < S::kDimTiles; ++n) {
    rO[m][n][2 * h] *= factor;
    rO[m][n][2 * h + 1] *= factor;
  }
}

// Brings every row's reference up to date with the new scores and rescales O and the sums.
// units:   scores times unit_log2 are exponents of two
// threads: one warp, converged
template <typename S, bool kFirst>
__device__ __forceinline__ void raise_references(SoftmaxState<S>& state, OutputFragment<S>& rO,
                                                 const ScoreFragment<S>& rS, float unit_log2) {
#pragma unroll
  for (int m = 0; m < S::kRowTiles; ++m) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float seen = quad_max(lane_max<S>(rS, m, h));
      if constexpr (kFirst) {
        state.reference[m][h] = seen;
      } else {
        const float raised = fmaxf(state.reference[m][h], seen);
        const float factor =
            ex2_approx_ftz((state.reference[m][h] - exponent_base<S>(raised)) * unit_log2);
        rescale_row<S>(rO, state, m, h, factor);
        state.reference[m][h] = raised;
      }
    }
  }
}

// Whether some row of the warp has outgrown its reference. threads: one warp, converged
template <typename S>
__device__ __forceinline__ bool any_row_outgrown(const SoftmaxState<S>& state,
                                                 const ScoreFragment<S>& rS, float slack) {
  bool outgrown = false;
#pragma unroll
  for (int m = 0; m < S::kRowTiles; ++m) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      outgrown |= lane_max<S>(rS, m, h) > state.reference[m][h] + slack;
    }
  }
  return __any_sync(0xffffffffu, outgrown);
}

// Scores to probabilities in place, and the lane's share of the row sums.
// units:   p = 2^(unit_log2 * (s - reference)); one FMA per exponent
template <typename S, bool kFirst>
__device__ __forceinline__ void exponentiate(ScoreFragment<S>& rS, SoftmaxState<S>& state,
                                             float unit_log2) {
#pragma unroll
  for (int m = 0; m < S::kRowTiles; ++m) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float shift = -exponent_base<S>(state.reference[m][h]) * unit_log2;
      float sum = kFirst ? 0.0f : state.sum[m][h];
#pragma unroll
      for (int n = 0; n < S::kKeyTiles; ++n) {
#pragma unroll
        for (int i = 2 * h; i < 2 * h + 2; ++i) {
          rS[m][n][i] = ex2_approx_ftz(fmaf(rS[m][n][i], unit_log2, shift));
          sum += rS[m][n][i];
        }
      }
      state.sum[m][h] = sum;
    }
  }
}

// optimized_softmax: scale folded into the exponent's FMA, first tile specialised, lazy rescaling.
// units:   rS in: raw scores, out: probabilities; scale_log2 = softmax_scale * log2(e)
// threads: one warp, converged
template <typename S, bool kFirst>
__device__ __forceinline__ void softmax_step_optimized(ScoreFragment<S>& rS, SoftmaxState<S>& state,
                                                       OutputFragment<S>& rO, float scale_log2) {
  if constexpr (kFirst) {
    raise_references<S, true>(state, rO, rS, scale_log2);
  } else if (any_row_outgrown<S>(state, rS, kLazyRescaleLog2 / scale_log2)) {
    raise_references<S, false>(state, rO, rS, scale_log2);
  }
  exponentiate<S, kFirst>(rS, state, scale_log2);
}

// The plain form: scores are scaled first, every tile is treated alike, O is rescaled every time.
// units, threads: as above
template <typename S>
__device__ __forceinline__ void softmax_step_plain(ScoreFragment<S>& rS, SoftmaxState<S>& state,
                                                   OutputFragment<S>& rO, float scale_log2) {
#pragma unroll
  for (int m = 0; m < S::kRowTiles; ++m) {
#pragma unroll
    for (int n = 0; n < S::kKeyTiles; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        rS[m][n][i] *= scale_log2;
      }
    }
  }
  raise_references<S, false>(state, rO, rS, 1.0f);
  exponentiate<S, false>(rS, state, 1.0f);
}

// Probabilities as the left operand of P V: the accumulator of two neighbouring column tiles is
// the A operand of one k16 step, so no lane needs another's data.
template <typename S>
__device__ __forceinline__ void pack_probabilities(ProbFragment<S>& rP,
                                                   const ScoreFragment<S>& rS) {
#pragma unroll
  for (int m = 0; m < S::kRowTiles; ++m) {
#pragma unroll
    for (int step = 0; step < S::kPvSteps; ++step) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float(&tile)[4] = rS[m][2 * step + i / 2];
        rP[m][step][i] = cvt_rn_x2<S::kIsBf16>(tile[i % 2 * 2], tile[i % 2 * 2 + 1]);
      }
    }
  }
}

// O /= l, with l summed over the four lanes of each row, and with the head's sink; zeros in rows
// that have seen no key.
// units:   as add_sink
// threads: one warp, converged
template <typename S>
__device__ __forceinline__ void normalise_output(OutputFragment<S>& rO, SoftmaxState<S>& state,
                                                 float sink, float unit_log2) {
#pragma unroll
  for (int m = 0; m < S::kRowTiles; ++m) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float total = quad_sum(state.sum[m][h]);
      float factor = 1.0f;
      if constexpr (kSinks) {
        factor = add_sink(state.reference[m][h], total, sink, unit_log2);
      }
      const bool has_keys = !kRowsWithoutKeys || total > 0.0f;
      rescale_row<S>(rO, state, m, h, has_keys ? factor * __frcp_rn(total) : 0.0f);
      if constexpr (kWritesLse) {
        state.sum[m][h] = total;
      }
    }
  }
}

// Natural logarithm of the sum of exp(scaled scores) of row (m, h); minus infinity without a key.
// units:   the reference times unit_log2 is an exponent of two
// sync:    after normalise_output, which leaves the whole row's sum
template <typename S>
__device__ __forceinline__ float log_sum_exp(const SoftmaxState<S>& state, int m, int h,
                                             float unit_log2) {
  constexpr float kLn2 = 0.693147180559945309417f;
  return fmaf(state.reference[m][h], unit_log2, lg2_approx_ftz(state.sum[m][h])) * kLn2;
}

#endif
