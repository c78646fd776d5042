// flash_sm80 with one mistake of the kind that people make, which FATUNE_FAULT names (family.json).
// The kernel is flash_sm80's own, from its headers. Functions of this file replace some that it
// calls: each makes its mistake if chosen, and else calls the right one. So `none` is flash_sm80.
#include "flash_sm80/config.cuh"
#include "flash_sm80/mask.cuh"
#include "flash_sm80/mma_tiles.cuh"
#include "flash_sm80/softmax.cuh"
#include "flash_sm80/tile_copy.cuh"

enum Fault {  // values as in family.json
  kNone,
  kWrongMask,          // a causal query sees the next key; else the last key is not seen
  kMissingRescale,     // neither O nor l follows when m rises
  kOutputNotRescaled,  // l follows, O does not
  kSwappedVPanels,     // the left half of V's columns for the right one
  kMissingBarrier,     // no CTA barrier: a race, which need not show
  kMissingWait,        // the barriers, but no wait for cp.async before them
  kLseBase2,           // log-sum-exp: the logarithm to base two
  kLseWithoutMaximum,  // of the sum alone
  kLseNotWritten,      // not stored
  kLsePastEnd          // stored one place further, the last past the tensor's end
};
constexpr Fault kFault = static_cast<Fault>(FATUNE_FAULT);

// threads, shape: as mask_scores
template <typename S>
__device__ __forceinline__ void broken_mask_scores(ScoreFragment<S>& rS, int first_row,
                                                   int first_key, int seq_len) {
  constexpr bool kWrong = kFault == kWrongMask;
  mask_scores<S>(rS, kWrong ? first_row + 1 : first_row, first_key,
                 kWrong && !kCausal ? seq_len - 1 : seq_len);
}

// Exchanges the two halves of O's columns, lane by lane.
template <typename S>
__device__ __forceinline__ void swap_panels(OutputFragment<S>& rO) {
  constexpr int kHalf = S::kDimTiles / 2;
#pragma unroll
  for (int m = 0; m < S::kRowTiles; ++m) {
#pragma unroll
    for (int n = 0; n < kHalf; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float left = rO[m][n][i];
        rO[m][n][i] = rO[m][n + kHalf][i];
        rO[m][n + kHalf][i] = left;
      }
    }
  }
}

// V's panels swapped are O's panels swapped around the accumulation. threads, sync: as
// accumulate_output
template <typename S>
__device__ __forceinline__ void broken_accumulate_output(OutputFragment<S>& rO,
                                                         const ProbFragment<S>& rP,
                                                         const LdmatrixLane<S>& v) {
  if constexpr (kFault == kSwappedVPanels) {
    swap_panels<S>(rO);
  }
  accumulate_output<S>(rO, rP, v);
  if constexpr (kFault == kSwappedVPanels) {
    swap_panels<S>(rO);
  }
}

// Takes a step of the softmax, and with the fault undoes what the step did to O, or to O and l: it
// only ever multiplies them, before it adds the tile's share to l. threads: as the step
template <typename S, typename Step>
__device__ __forceinline__ void without_rescaling(SoftmaxState<S>& state, OutputFragment<S>& rO,
                                                  Step step) {
  const SoftmaxState<S> before = state;
#pragma unroll
  for (int m = 0; m < S::kRowTiles && kFault == kMissingRescale; ++m) {
    state.sum[m][0] = state.sum[m][1] = 0.0f;
  }
  OutputFragment<S> ignored;
#pragma unroll
  for (int m = 0; m < S::kRowTiles; ++m) {
#pragma unroll
    for (int n = 0; n < S::kDimTiles; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        ignored[m][n][i] = rO[m][n][i];
      }
    }
  }
  step(ignored);
#pragma unroll
  for (int m = 0; m < S::kRowTiles && kFault == kMissingRescale; ++m) {
    state.sum[m][0] += before.sum[m][0];
    state.sum[m][1] += before.sum[m][1];
  }
}

template <typename S, bool kFirst>
__device__ __forceinline__ void broken_softmax_step_optimized(ScoreFragment<S>& rS,
                                                              SoftmaxState<S>& state,
                                                              OutputFragment<S>& rO,
                                                              float scale_log2) {
  const auto step = [&](OutputFragment<S>& o) {
    softmax_step_optimized<S, kFirst>(rS, state, o, scale_log2);
  };
  if constexpr (kFault == kMissingRescale || kFault == kOutputNotRescaled) {
    without_rescaling<S>(state, rO, step);
  } else {
    step(rO);
  }
}

template <typename S>
__device__ __forceinline__ void broken_softmax_step_plain(ScoreFragment<S>& rS,
                                                          SoftmaxState<S>& state,
                                                          OutputFragment<S>& rO, float scale_log2) {
  const auto step = [&](OutputFragment<S>& o) { softmax_step_plain<S>(rS, state, o, scale_log2); };
  if constexpr (kFault == kMissingRescale || kFault == kOutputNotRescaled) {
    without_rescaling<S>(state, rO, step);
  } else {
    step(rO);
  }
}

// sync: a CTA barrier, unless it is the one that is missing
__device__ __forceinline__ void broken_syncthreads() {
  if constexpr (kFault != kMissingBarrier) {
    __syncthreads();
  }
}

__device__ __forceinline__ void broken_cp_async_wait_all() {
  if constexpr (kFault != kMissingWait) {
    cp_async_wait_all();
  }
}

// units, sync: as log_sum_exp
template <typename S>
__device__ __forceinline__ float broken_log_sum_exp(const SoftmaxState<S>& state, int m, int h,
                                                    float unit_log2) {
  constexpr float kLog2E = 1.44269504088896340736f;
  if constexpr (kFault == kLseWithoutMaximum) {
    return lg2_approx_ftz(state.sum[m][h]) / kLog2E;
  }
  return log_sum_exp<S>(state, m, h, unit_log2) * (kFault == kLseBase2 ? kLog2E : 1.0f);
}

#define log_sum_exp broken_log_sum_exp
#include "flash_sm80/epilogue.cuh"

// shape, threads: as store_log_sum_exp
template <typename S>
__device__ __forceinline__ void broken_store_log_sum_exp(float* g_lse, const SoftmaxState<S>& state,
                                                         float unit_log2, int rows_left, int lane) {
  if constexpr (kFault != kLseNotWritten) {
    store_log_sum_exp<S>(kFault == kLsePastEnd ? g_lse + 1 : g_lse, state, unit_log2, rows_left,
                         lane);
  }
}

#define store_log_sum_exp broken_store_log_sum_exp
#define mask_scores broken_mask_scores
#define accumulate_output broken_accumulate_output
#define softmax_step_optimized broken_softmax_step_optimized
#define softmax_step_plain broken_softmax_step_plain
#define __syncthreads broken_syncthreads
#define cp_async_wait_all broken_cp_async_wait_all
#include "flash_sm80/flash_forward.cu"

constexpr FlashForwardKernelConfig kBroken{.dtype = FATUNE_dtype,
                                           .d_head = FATUNE_d_head,
                                           .B_r = FATUNE_B_r,
                                           .B_c = FATUNE_B_c,
                                           .n_warps = 4,
                                           .async_copy = FATUNE_async_copy != 0,
                                           .eager_load_blocks = FATUNE_eager_load_blocks != 0,
                                           .swizzled = true,
                                           .Q_mma_load_K_tiles = 2,
                                           .K_mma_load_K_tiles = 2,
                                           .V_mma_load_K_tiles = 2,
                                           .mma_double_buffer_loads = false,
                                           .optimized_softmax = FATUNE_optimized_softmax != 0};

// shape: as flash_forward_kernel
extern "C" __global__ void __launch_bounds__(Shape<kBroken>::kThreads, FATUNE_MIN_BLOCKS)
    broken_flash(const __grid_constant__ KernelArgs args) {
  extern __shared__ __align__(1024) unsigned char smem[];
  BlockRows rows;
  if constexpr (kPacked) {
    if (!find_rows<Shape<kBroken>>(args, rows)) {
      return;
    }
  }
  Forward<kBroken> forward(args, shared_address(smem), rows);
  forward.run();
  forward.finish();
}
