// The consumer: a warpgroup that computes attention of a tile's rows with the keys of a part.
//
// Keys are the rows of the first product, S^T = K Q^T, and columns of V those of the second, O^T =
// V^T P^T, so that the packed rows of Q, which are few, are the columns of both and are not padded
// to 64. P goes through shared memory.
#ifndef FATUNE_KERNELS_FLASH_DECODE_CONSUMER_CUH
#define FATUNE_KERNELS_FLASH_DECODE_CONSUMER_CUH

#include "common/ptx_barrier.cuh"
#include "common/ptx_math.cuh"
#include "common/ptx_memory.cuh"
#include "common/ptx_tma.cuh"
#include "flash_decode/config.cuh"
#include "flash_decode/kernel_args.cuh"
#include "flash_decode/part_schedule.cuh"
#include "flash_decode/products.cuh"

// A row's reference follows its maximum only when a score has outgrown it by this factor of two
// (log2 units).
inline constexpr float kLazyRescaleLog2 = 8.0f;
inline constexpr unsigned kConsumerBarrier = 1;

// Sums of the thread's keys. A thread's row r (0 <= r < kRefs) is row 8 * (r / 2) + 2 * (lane % 4)
// + r % 2 of the tile; accumulator i of a product is of row 2 * (i / 4) + i % 2 of the thread, and
// of key or column of V 16 * warp + lane / 4
// + 8 * (i / 2 % 2) of the product's 64.
template <typename S>
struct Sums {
  float o[S::kPanels][S::kScores];
  float reference[S::kRefs];  // raw scores, the same in all threads that have the row
  float sum[S::kRefs];        // of probabilities: of this thread's keys, until total()
};

template <typename S>
class Consumer {
 public:
  using Plan = SmemPlan<S>;

  __device__ __forceinline__ Consumer(const Work& work, unsigned char* memory, unsigned smem)
      : work_(work),
        statistics_(reinterpret_cast<float*>(memory + Plan::kStatistics)),
        smem_(smem),
        thread_(static_cast<int>(threadIdx.x)),
        lane_(thread_ % 32),
        warp_(thread_ / 32),
        scale_log2_(work.softmax_scale * 1.44269504088896340736f) {}

  // threads: the warpgroup, converged, in all functions

  // Computes the sums of a part; slot: of its Q.
  __device__ __forceinline__ void compute(const Part& part, int slot, Sums<S>& sums) {
    clear(sums);
#pragma unroll 1
    for (int at = part.step; at < part.end; ++at) {
      const unsigned full = smem_ + Plan::full(stage_.index);
      mbarrier_wait(full, stage_.parity);
      step(part, at * S::kStepKeys, smem_ + Plan::query(slot), sums);
      if (lane_ == 0) {
        mbarrier_arrive(Plan::empty(full));
      }
      stage_.advance();
    }
    total(sums);
  }

  // The thread's row r of the tile.
  __device__ __forceinline__ int row_of(int r) const {
    return 8 * (r / 2) + 2 * (lane_ % 4) + r % 2;
  }

 private:
  using Scores = float[S::kKeyTiles][S::kScores];

  __device__ __forceinline__ void clear(Sums<S>& sums) const {
#pragma unroll
    for (int panel = 0; panel < S::kPanels; ++panel) {
#pragma unroll
      for (int i = 0; i < S::kScores; ++i) {
        sums.o[panel][i] = 0.0f;
      }
    }
#pragma unroll
    for (int r = 0; r < S::kRefs; ++r) {
      sums.reference[r] = negative_infinity();
      sums.sum[r] = 0.0f;
    }
  }

  __device__ __forceinline__ void step(const Part& part, int key, unsigned sQ, Sums<S>& sums) {
    Scores s;
    scores(s, sQ);
    if (key + S::kStepKeys > part.keys && work_.seq_lens_kv != nullptr) {
      clear_values(part.keys - key);
    }
    mask(s, part, key);
    bool outgrown = false;
    const float slack = kLazyRescaleLog2 / scale_log2_;
#pragma unroll
    for (int r = 0; r < S::kRefs; ++r) {
      outgrown |= greatest(s, r) > sums.reference[r] + slack;
    }
    // After this barrier, all warps have finished the product before, which read P.
    if (named_barrier_any(kConsumerBarrier, S::kConsumers, outgrown)) {
      raise_references(s, sums);
    }
    exponentiate(s, sums);
    store_probabilities(s);
    fence_async_proxy();
    named_barrier_wait(kConsumerBarrier, S::kConsumers);
    accumulate(sums);
  }

  __device__ __forceinline__ void scores(Scores& s, unsigned sQ) const {
    const unsigned sK = smem_ + Plan::key(stage_.index);
    wgmma_fence();
#pragma unroll
    for (int m = 0; m < S::kKeyTiles; ++m) {
#pragma unroll
      for (int k = 0; k < S::kHeadDim / 16; ++k) {
        const int panel = k / 4;
        product<S::kIsBf16, S::kRows, false>(
            s[m], swizzled_descriptor(sK + panel * Plan::kPanelBytesKv + m * 8192 + k % 4 * 32, 0),
            swizzled_descriptor(sQ + panel * Plan::kPanelBytesQ + k % 4 * 32, 0), k > 0 ? 1 : 0);
      }
    }
    wgmma_commit();
    wgmma_wait<0>();
#pragma unroll
    for (int m = 0; m < S::kKeyTiles; ++m) {
      after_wait(s[m]);
    }
  }

  __device__ __forceinline__ void accumulate(Sums<S>& sums) const {
    const unsigned sV = smem_ + Plan::value(stage_.index);
    const unsigned sP = smem_ + Plan::kP;
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < S::kStepKeys / 16; ++k) {
#pragma unroll
      for (int panel = 0; panel < S::kPanels; ++panel) {
        product<S::kIsBf16, S::kRows, true>(
            sums.o[panel], swizzled_descriptor(sV + panel * Plan::kPanelBytesKv + k * 2048, 0),
            swizzled_descriptor(sP + k / 4 * Plan::kPanelBytesQ + k % 4 * 32, 0), 1);
      }
    }
    wgmma_commit();
    wgmma_wait<0>();
#pragma unroll
    for (int panel = 0; panel < S::kPanels; ++panel) {
      after_wait(sums.o[panel]);
    }
  }

  // Sets the rows of V from `keys` on to 0: what is behind a sequence's end may be NaN.
  // sync: out: a barrier before the product
  __device__ __forceinline__ void clear_values(int keys) const {
    const unsigned sV = smem_ + Plan::value(stage_.index);
    for (int panel = 0; panel < S::kPanels; ++panel) {
      for (int at = keys * 8 + thread_; at < S::kStepKeys * 8; at += S::kConsumers) {
        st_shared_16(sV + panel * Plan::kPanelBytesKv + 16 * at, make_uint4(0, 0, 0, 0));
      }
    }
  }

  // Greatest score of the thread's row r among its keys.
  __device__ __forceinline__ static float greatest(const Scores& s, int r) {
    float value = negative_infinity();
#pragma unroll
    for (int m = 0; m < S::kKeyTiles; ++m) {
      value = fmaxf(value, fmaxf(s[m][r / 2 * 4 + r % 2], s[m][r / 2 * 4 + 2 + r % 2]));
    }
    return value;
  }

  // Sets scores of keys that a row does not see to minus infinity.
  __device__ __forceinline__ void mask(Scores& s, const Part& part, int first_key) const {
    const int first_query = part.row_tile * work_.tile_queries;
    const int diagonal = part.keys - work_.seq_len;
    const bool is_causal = work_.causal != 0;
    // Keys that all rows see begin and end here.
    const int seen_end = is_causal ? min(part.keys, first_query + diagonal + 1)
                         : work_.window == 0
                             ? part.keys
                             : min(part.keys, first_query + diagonal + work_.window);
    if (first_key + S::kStepKeys <= seen_end && work_.window == 0) {
      return;
    }
#pragma unroll
    for (int r = 0; r < S::kRefs; ++r) {
      const int position = first_query + row_of(r) / work_.group + diagonal;
      const int end = is_causal           ? min(part.keys, position + 1)
                      : work_.window == 0 ? part.keys
                                          : min(part.keys, position + work_.window);
      const int begin = work_.window == 0 ? 0 : position - work_.window + 1;
#pragma unroll
      for (int m = 0; m < S::kKeyTiles; ++m) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const int key = first_key + 64 * m + 16 * warp_ + lane_ / 4 + 8 * h;
          if (key < begin || key >= end) {
            s[m][r / 2 * 4 + 2 * h + r % 2] = negative_infinity();
          }
        }
      }
    }
  }

  __device__ __forceinline__ void raise_references(const Scores& s, Sums<S>& sums) const {
#pragma unroll
    for (int r = 0; r < S::kRefs; ++r) {
      const float of_warp = max_of_lanes(greatest(s, r));
      if (lane_ < 4) {
        statistics_[warp_ * S::kRows + row_of(r)] = of_warp;
      }
    }
    named_barrier_wait(kConsumerBarrier, S::kConsumers);
#pragma unroll
    for (int r = 0; r < S::kRefs; ++r) {
      float raised = sums.reference[r];
#pragma unroll
      for (int warp = 0; warp < 4; ++warp) {
        raised = fmaxf(raised, statistics_[warp * S::kRows + row_of(r)]);
      }
      const float factor = ex2_approx_ftz((sums.reference[r] - finite(raised)) * scale_log2_);
      sums.reference[r] = raised;
      sums.sum[r] *= factor;
#pragma unroll
      for (int panel = 0; panel < S::kPanels; ++panel) {
        sums.o[panel][r / 2 * 4 + r % 2] *= factor;
        sums.o[panel][r / 2 * 4 + 2 + r % 2] *= factor;
      }
    }
  }

  __device__ __forceinline__ static float finite(float reference) {
    return reference == negative_infinity() ? 0.0f : reference;
  }

  __device__ __forceinline__ void exponentiate(Scores& s, Sums<S>& sums) const {
#pragma unroll
    for (int r = 0; r < S::kRefs; ++r) {
      const float shift = -finite(sums.reference[r]) * scale_log2_;
#pragma unroll
      for (int m = 0; m < S::kKeyTiles; ++m) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          float& p = s[m][r / 2 * 4 + 2 * h + r % 2];
          p = ex2_approx_ftz(fmaf(p, scale_log2_, shift));
          sums.sum[r] += p;
        }
      }
    }
  }

  // P as the right operand of the second product: [rows][64 keys].
  __device__ __forceinline__ void store_probabilities(const Scores& s) const {
#pragma unroll
    for (int m = 0; m < S::kKeyTiles; ++m) {
      const unsigned panel = smem_ + Plan::kP + m * Plan::kPanelBytesQ;
      const int chunk = 2 * warp_ + lane_ / 8 % 2;
      const auto packed = [&](int j, int h) {
        return cvt_rn_x2<S::kIsBf16>(s[m][4 * j + 2 * h], s[m][4 * j + 2 * h + 1]);
      };
      if constexpr (S::kRows == 8) {
        const int row = lane_ % 8;
        stmatrix_x2_trans(panel + row * 128 + 16 * (chunk ^ row), packed(0, 0), packed(0, 1));
      } else {
#pragma unroll
        for (int j = 0; j < S::kRows / 8; j += 2) {
          const int row = 8 * j + lane_ / 16 * 8 + lane_ % 8;
          stmatrix_x4_trans(panel + row * 128 + 16 * (chunk ^ lane_ % 8), packed(j, 0),
                            packed(j, 1), packed(j + 1, 0), packed(j + 1, 1));
        }
      }
    }
  }

  // Adds up the sums of the lanes and warps that have other keys of the same rows.
  __device__ __forceinline__ void total(Sums<S>& sums) const {
    named_barrier_wait(kConsumerBarrier, S::kConsumers);
#pragma unroll
    for (int r = 0; r < S::kRefs; ++r) {
      float sum = sums.sum[r];
#pragma unroll
      for (int distance = 4; distance < 32; distance *= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
      }
      if (lane_ < 4) {
        statistics_[warp_ * S::kRows + row_of(r)] = sum;
      }
    }
    named_barrier_wait(kConsumerBarrier, S::kConsumers);
#pragma unroll
    for (int r = 0; r < S::kRefs; ++r) {
      const float* const of = statistics_ + row_of(r);
      sums.sum[r] = (of[0] + of[S::kRows]) + (of[2 * S::kRows] + of[3 * S::kRows]);
    }
  }

  __device__ __forceinline__ static float max_of_lanes(float value) {
#pragma unroll
    for (int distance = 4; distance < 32; distance *= 2) {
      value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, distance));
    }
    return value;
  }

  const Work& work_;
  float* const statistics_;  // [4 warps][rows]
  const unsigned smem_;
  const int thread_;
  const int lane_;
  const int warp_;
  const float scale_log2_;
  Ring<S::kStages> stage_;
};

#endif
