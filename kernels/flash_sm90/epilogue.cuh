// O from registers to global memory, through the consumer's own rows of Q, by TMA or by threads.
#ifndef FATUNE_KERNELS_FLASH_SM90_EPILOGUE_CUH
#define FATUNE_KERNELS_FLASH_SM90_EPILOGUE_CUH

#include "common/online_softmax.cuh"
#include "common/ptx_barrier.cuh"
#include "common/ptx_math.cuh"
#include "common/ptx_memory.cuh"
#include "common/ptx_mma.cuh"
#include "common/ptx_tma.cuh"
#include "common/sink.cuh"
#include "flash_sm90/smem_plan.cuh"

// Rounds O to 16 bits, and lays it out as a tile.
// shape:   tile: the consumer's rows, [panels][64][64]; warp: index in the consumer
// threads: one warp, converged
template <typename S>
__device__ __forceinline__ void stage_output(unsigned tile, const float (&o)[S::kOutputs], int warp,
                                             int lane) {
  const int row = 16 * warp + lane % 16;
#pragma unroll
  for (int i = 0; i < S::kOutputs; i += 8) {
    const int panel = i / 32;
    const int chunk = i % 32 / 4 + lane / 16;
    unsigned r[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int at = i + 2 * j;  // past the end in the last four of an odd number of column groups
      r[j] = at < S::kOutputs ? cvt_rn_x2<S::kIsBf16>(o[at], o[at + 1]) : 0;
    }
    stmatrix_x4(tile + panel * SmemPlan<S>::kPanelBytesQ + row * 128 + 16 * (chunk ^ row % 8), r);
  }
}

// Copies the first rows of a staged tile to O. TMA would also write the others, which are rows of
// the next sequence of a packed batch.
// shape:   tile: as stage_output; first_query, first_head: where the first row is in O; thread: in
//          the consumer
// args:    o, o_row_stride, o_head_stride
// threads: the consumer; sync: in: the tile is staged; out: none
template <typename S, typename Args>
__device__ __forceinline__ void copy_rows(const Args& args, unsigned tile, int rows,
                                          int first_query, int first_head, int thread) {
  constexpr int kChunks = S::kHeadDimV / 8;
  unsigned short* const to = args.o + static_cast<long long>(first_query) * args.o_row_stride +
                             static_cast<long long>(first_head) * args.o_head_stride;
#pragma unroll 1
  for (int i = thread; i < rows * kChunks; i += S::kGroupThreads) {
    const int row = i / kChunks;
    const int chunk = i - row * kChunks;
    const unsigned from =
        tile + chunk / 8 * SmemPlan<S>::kPanelBytesQ + row * 128 + 16 * (chunk % 8 ^ row % 8);
    st_global_16_no_l1(to + static_cast<long long>(query_of(row)) * args.o_row_stride +
                           static_cast<long long>(head_of(row)) * args.o_head_stride + 8 * chunk,
                       ld_shared_16(from));
  }
}

// Adds up the sums of the lanes of row h, and its head's sink.
// shape: sinks: of the thread's two rows
// Returns the factor by which the row's O has to be multiplied.
__device__ __forceinline__ float finish_sum(SoftmaxState& state, int h, const float (&sinks)[2],
                                            float scale_log2) {
  state.sum[h] = quad_sum(state.sum[h]);
  if constexpr (kSinks) {
    return add_sink(state.reference[h], state.sum[h], sinks[h], scale_log2);
  } else {
    return 1.0f;
  }
}

// Adds up the sums of the row's lanes, and its head's sink, and divides O by them. A row that sees
// no key, or that no query fills, gets 0.
// shape: row: the thread's first in the consumer; sinks: of its two rows
template <typename S>
__device__ __forceinline__ void normalise_output(float (&o)[S::kOutputs], SoftmaxState& state,
                                                 const float (&sinks)[2], float scale_log2,
                                                 int row) {
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const float factor = finish_sum(state, h, sinks, scale_log2);
    float inverse = kRowsWithoutKeys && state.sum[h] == 0.0f ? 0.0f : 1.0f / state.sum[h];
    if constexpr (kSinks) {
      inverse *= factor;
    }
    if (S::kUsedRows < S::kGroupRows && row + 8 * h >= S::kUsedRows) {
      inverse = 0.0f;
    }
#pragma unroll
    for (int i = 2 * h; i < S::kOutputs; i += 4) {
      o[i] *= inverse;
      o[i + 1] *= inverse;
    }
  }
}

__device__ __forceinline__ constexpr float ln2() { return 0.69314718055994530942f; }

// shape: g_lse: of the first query of the tile's first head; head_stride: elements; first_query: of
//        the consumer; row: the thread's first in it; queries: seq_len. After normalise_output
// units: score_unit: as the function of that name
template <typename S>
__device__ __forceinline__ void store_log_sum_exp(float* g_lse, int head_stride,
                                                  const SoftmaxState& state, int first_query,
                                                  int row, int queries, float score_unit,
                                                  int lane) {
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int query = first_query + query_of(row + 8 * h);
    const bool is_spare = S::kUsedRows < S::kGroupRows && row + 8 * h >= S::kUsedRows;
    if (lane % 4 == 0 && query < queries && !is_spare) {
      g_lse[static_cast<long long>(head_of(row + 8 * h)) * head_stride + query] =
          state.reference[h] * score_unit + lg2_approx_ftz(state.sum[h]) * ln2();
    }
  }
}

#endif
