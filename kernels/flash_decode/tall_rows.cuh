// What consumers have in common that have 64 of a tile's packed rows as rows of both products: what
// rows see, products of Q and K, and the end of a part.
#ifndef FATUNE_KERNELS_FLASH_DECODE_TALL_ROWS_CUH
#define FATUNE_KERNELS_FLASH_DECODE_TALL_ROWS_CUH

#include "common/online_softmax.cuh"
#include "common/ptx_barrier.cuh"
#include "common/ptx_tma.cuh"
#include "common/ptx_wgmma.cuh"
#include "flash_decode/cluster.cuh"
#include "flash_decode/config.cuh"
#include "flash_decode/debug_dump.cuh"
#include "flash_decode/kernel_args.cuh"
#include "flash_decode/part_schedule.cuh"
#include "flash_decode/row_sink.cuh"
#include "flash_decode/seen_keys.cuh"
#include "flash_decode/sums.cuh"
#include "flash_decode/tile_layout.cuh"

// threads: the warpgroup, converged, in all functions
template <typename S>
class TallRows {
 public:
  using Plan = SmemPlan<S>;
  using Sums = TallSums<S>;
  using Layout = TileLayout<S>;

  __device__ __forceinline__ TallRows(const Work& work, unsigned smem)
      : work_(work),
        smem_(smem),
        group_(warp_uniform(static_cast<int>(threadIdx.x) / 128)),
        lane_(static_cast<int>(threadIdx.x) % 32),
        scale_log2_(score_unit(work) * 1.44269504088896340736f) {}

  // The tile's row of element h of the state.
  __device__ __forceinline__ static int row_of(int h) {
    return (S::kLatent ? static_cast<int>(threadIdx.x) % 128 : static_cast<int>(threadIdx.x)) / 32 *
               16 +
           static_cast<int>(threadIdx.x) % 32 / 4 + 8 * h;
  }

 protected:
  using Scores = float[S::kScores];
  using Probabilities = unsigned[S::kScores / 2];

  // The sums of a part, before its first step.
  __device__ __forceinline__ static void clear(Sums& sums) {
    sums.softmax = {{kNothingSeen, kNothingSeen}, {0.0f, 0.0f}};
#pragma unroll
    for (int i = 0; i < S::kOutputs; ++i) {
      sums.o[i] = 0.0f;
    }
  }

  __device__ __forceinline__ void find_seen(const Part& part) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      seen_[h] = seen_keys(work_, part, row_of(h));
    }
  }

  // Starts S = Q K^T of the tile of K in this stage, of the columns from 16 * kFirst to before
  // 16 * kEnd, and adds it to S unless these are the first. out: not committed
  template <int kFirst = 0, int kEnd = S::kHeadDim / 16>
  __device__ __forceinline__ void multiply_queries(Scores& s, unsigned sQ, int stage) const {
    const unsigned long long q = swizzled_descriptor(sQ, 0);
    const unsigned long long k =
        swizzled_descriptor<Layout::kEightKeysBytes>(smem_ + Plan::key(stage), 0);
    wgmma_fence();
#pragma unroll
    for (int at = kFirst; at < kEnd; ++at) {
      const int within = at % 4 * (32 / 16);  // 16 columns are 32 bytes
      wgmma_shared<S::kIsBf16, S::kStepKeys>(s, q + at / 4 * (Plan::kPanelBytesQ / 16) + within,
                                             k + at / 4 * (Layout::kPanelBytes / 16) + within,
                                             at > 0 ? 1 : 0);
    }
  }

  // Starts O += P V of the columns of V from this address on. out: pending
  __device__ __forceinline__ static void multiply_values(Sums& sums, const Probabilities& p,
                                                         unsigned values) {
    const unsigned long long v =
        swizzled_descriptor<Layout::kEightKeysBytes>(values, Layout::kPanelBytes);
    wgmma_fence();
#pragma unroll
    for (int at = 0; at < S::kStepKeys / 16; ++at) {
      wgmma_registers<S::kIsBf16, 2 * S::kOutputs>(sums.o, p + 4 * at,
                                                   v + at * (2 * Layout::kEightKeysBytes / 16), 1);
    }
    wgmma_commit();
  }

  __device__ __forceinline__ void release(unsigned full) const {
    free_for_cluster(smem_ + Plan::empty(full), lane_);
  }

  // Frees the tile of Q of the part in this slot.
  __device__ __forceinline__ void release_query(int slot) const {
    if (lane_ == 0) {
      mbarrier_arrive(smem_ + Plan::free_query(slot % S::kQueryTiles));
    }
  }

  __device__ __forceinline__ StepDump<S, Sums> dump(const Part& part, int step) const {
    return {work_, part, step};
  }

  // Sets scores of keys that a row does not see to minus infinity.
  __device__ __forceinline__ void mask(Scores& s, const Part& part, int step) const {
    const int first_key = step * S::kStepKeys;
    if (needs_mask(work_, part, first_key, S::kStepKeys)) {
      mask_from(s, first_key);
    }
    dump(part, step).scores(s);
  }

  // As mask(), of the step with these keys.
  __device__ __forceinline__ void mask_from(Scores& s, int first_key) const {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int begin = seen_[h].begin - first_key - lane_ % 4 * 2;
      const int end = seen_[h].end - first_key - lane_ % 4 * 2;
#pragma unroll
      for (int i = 2 * h; i < S::kScores; i += 4) {
#pragma unroll
        for (int j = 0; j < 2; ++j) {
          const int column = 2 * i - 4 * h + j;
          if (column < begin || column >= end) {
            s[i + j] = negative_infinity();
          }
        }
      }
    }
  }

  // Makes the step's scores, which are probabilities now, the operand of the second product.
  __device__ __forceinline__ void pack(Probabilities& p, Scores& s, const Sums& sums,
                                       const Part& part, int step) const {
    pack_probabilities<S::kStepKeys, S>(p, s);
    dump(part, step).softmax(sums, p, [](Sums& of_row) { total(of_row); });
  }

  // Adds up the sums of the lanes that have other keys of the same rows.
  __device__ __forceinline__ static void total(Sums& sums) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      sums.softmax.sum[h] = quad_sum(sums.softmax.sum[h]);
    }
  }

  // Adds the sinks of the rows' heads, with the first part of the keys.
  __device__ __forceinline__ void add_sinks(const Part& part, Sums& sums) const {
    Rescale rescale{true, {}};
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      rescale.factor[h] = add_sink(sums.softmax.reference[h], sums.softmax.sum[h],
                                   sink_of_row(work_, part, row_of(h)), scale_log2_);
    }
    rescale_output<S>(sums.o, rescale);
  }

  const Work& work_;
  const unsigned smem_;
  const int group_;
  const int lane_;
  const float scale_log2_;
  KeyRange seen_[2];
  int tiles_ = 0;  // of K that the parts before had
};

#endif
