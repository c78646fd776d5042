// The short consumer: a warpgroup that computes attention of up to 64 packed rows with the keys of
// a part.
//
// Keys are the rows of the first product, S^T = K Q^T, and columns of V those of the second, O^T =
// V^T P^T, so that the packed rows of Q, which are few, are the columns of both and are not padded
// to 64. P goes through shared memory. How the products read K and V depends on their type
// (short_products.cuh, converted_products.cuh); all else is the same.
#ifndef FATUNE_KERNELS_FLASH_DECODE_SHORT_CONSUMER_CUH
#define FATUNE_KERNELS_FLASH_DECODE_SHORT_CONSUMER_CUH

#include "common/online_softmax.cuh"
#include "common/ptx_barrier.cuh"
#include "common/ptx_math.cuh"
#include "common/ptx_memory.cuh"
#include "common/ptx_tma.cuh"
#include "flash_decode/config.cuh"
#include "flash_decode/converted_products.cuh"
#include "flash_decode/debug_dump.cuh"
#include "flash_decode/kernel_args.cuh"
#include "flash_decode/part_schedule.cuh"
#include "flash_decode/products.cuh"
#include "flash_decode/row_sink.cuh"
#include "flash_decode/scales.cuh"
#include "flash_decode/seen_keys.cuh"
#include "flash_decode/short_products.cuh"
#include "flash_decode/sums.cuh"
#include "flash_decode/values_end.cuh"

inline constexpr unsigned kConsumerBarrier = 1;

template <typename S, bool kIs8Bit = kKvIs8Bit>
struct ProductsOf {
  using Type = ShortProducts<S>;
};
template <typename S>
struct ProductsOf<S, true> {
  using Type = ConvertedProducts<S>;
};

// A thread's row r (0 <= r < kRefs) is row 8 * (r / 2) + 2 * (lane % 4) + r % 2 of the tile;
// accumulator i of a product is of row 2 * (i / 4) + i % 2 of the thread, and of key or column of V
// 16 * warp + lane / 4 + 8 * (i / 2 % 2) of the product's 64.
template <typename S>
class ShortConsumer {
 public:
  using Plan = SmemPlan<S>;
  using Sums = ShortSums<S>;

  __device__ __forceinline__ ShortConsumer(const Work& work, unsigned char* memory, unsigned smem)
      : work_(work),
        statistics_(reinterpret_cast<float*>(memory + Plan::kStatistics)),
        smem_(smem),
        thread_(static_cast<int>(threadIdx.x)),
        lane_(thread_ % 32),
        warp_(thread_ / 32),
        scale_log2_(log2_unit(work)),
        slack_(kLazyRescaleLog2 / scale_log2_) {}

  // threads: the warpgroup, converged, in all functions

  // Computes the sums of a part; slot: of its Q.
  __device__ __forceinline__ void compute(const Part& part, int slot, Sums& sums) {
    clear(sums);
    const unsigned sQ = warp_uniform(smem_ + Plan::query(slot)) & kAligned1024;
    const int first = warp_uniform(part.step);
    const int end = warp_uniform(part.end);
    Scales<S> scales(work_, part);
    Products products(smem_, lane_);
    scales.take_query_unit(products.begin(sQ));
    if constexpr (Scales<S>::kFactorOfUnit) {
      set_unit(scales.factor());
    }
    Ring<S::kStages> stage = ring_at<S::kStages>(warp_uniform(steps_));
    if (first < end) {
      products.prepare_keys(stage);
    }
#pragma unroll 1
    for (int at = first; at < end; ++at) {
      step(part, at, stage, sQ, scales, products, sums);
      stage.advance();
    }
    steps_ += max(0, end - first);
    total(sums);
    scales.scale_sums(sums);
    if constexpr (Scales<S>::kFactorOfUnit) {
      bring_references_to_unit(scales.factor(), sums);
    }
    if constexpr (kSinks) {
      add_sinks(part, sums);
    }
  }

  // The thread's row r of the tile.
  __device__ __forceinline__ int row_of(int r) const {
    return 8 * (r / 2) + 2 * (lane_ % 4) + r % 2;
  }

 private:
  using Scores = ShortScores<S>;
  using Products = typename ProductsOf<S>::Type;

  // What makes a score an exponent of two.
  __device__ __forceinline__ static float log2_unit(const Work& work) {
    return score_unit(work) * 1.44269504088896340736f;
  }

  // Scores are in units of which a score as other parts know it is `factor`.
  __device__ __forceinline__ void set_unit(float factor) {
    scale_log2_ = log2_unit(work_) * factor;
    slack_ = kLazyRescaleLog2 / scale_log2_;
  }

  __device__ __forceinline__ void bring_references_to_unit(float factor, Sums& sums) {
#pragma unroll
    for (float& reference : sums.reference) {
      reference = fmaxf(reference * factor, kNothingSeen);
    }
    set_unit(1.0f);
  }

  __device__ __forceinline__ void clear(Sums& sums) const {
#pragma unroll
    for (int panel = 0; panel < S::kPanels; ++panel) {
#pragma unroll
      for (int i = 0; i < S::kScores; ++i) {
        sums.o[panel][i] = 0.0f;
      }
    }
#pragma unroll
    for (int r = 0; r < S::kRefs; ++r) {
      sums.reference[r] = kNothingSeen;
      sums.sum[r] = 0.0f;
    }
  }

  __device__ __forceinline__ void step(const Part& part, int at, Ring<S::kStages> stage,
                                       unsigned sQ, Scales<S>& scales, Products& products,
                                       Sums& sums) {
    const StepDump<S, Sums> dump(work_, part, at);
    scales.begin_step(at);
    Scores s;
    products.scores(s, sQ, stage);
    scales.scale_scores(s);
    if (at + 1 == part.end) {
      clear_values_behind<S>(work_, part, smem_, stage);
    }
#pragma unroll
    for (int m = 0; m < S::kKeyTiles; ++m) {
      cap_scores<S::kScores>(s[m], work_);
    }
    mask(s, part, at * S::kStepKeys);
    dump.scores(s);
    bool outgrown = scales.has_outgrown();
#pragma unroll
    for (int r = 0; r < S::kRefs; ++r) {
      outgrown |= greatest(s, r) > sums.reference[r] + slack_;
    }
    // After this barrier, all warps have finished the product before, which read P.
    if (named_barrier_any(kConsumerBarrier, S::kConsumers, outgrown)) {
      raise_references(s, sums);
      if constexpr (kHasKeyScales) {
        scales.raise_unit(max_of_warps(scales.greatest()), sums);
      }
    }
    exponentiate(s, sums);
    scales.scale_probabilities(s);
    store_probabilities(s);
    products.prepare_values(stage);
    fence_async_proxy();
    named_barrier_wait(kConsumerBarrier, S::kConsumers);
    dump.softmax(sums, smem_ + Plan::kP, [&](Sums& of_row) { total(of_row); });
    products.accumulate(sums, stage, at + 1 == part.end);
    dump.output(sums);
    scales.end_step();
  }

  // Greatest score of the thread's row r among its keys.
  __device__ __forceinline__ static float greatest(const Scores& s, int r) {
    const auto of_tile = [&](int m) {
      return fmaxf(s[m][r / 2 * 4 + r % 2], s[m][r / 2 * 4 + 2 + r % 2]);
    };
    float value = of_tile(0);
#pragma unroll
    for (int m = 1; m < S::kKeyTiles; ++m) {
      value = fmaxf(value, of_tile(m));
    }
    return value;
  }

  // Sets scores of keys that a row does not see to minus infinity.
  __device__ __forceinline__ void mask(Scores& s, const Part& part, int first_key) const {
    if (!needs_mask(work_, part, first_key, S::kStepKeys)) {
      return;
    }
#pragma unroll
    for (int r = 0; r < S::kRefs; ++r) {
      const KeyRange seen = seen_keys(work_, part, row_of(r));
#pragma unroll
      for (int m = 0; m < S::kKeyTiles; ++m) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const int key = first_key + 64 * m + 16 * warp_ + lane_ / 4 + 8 * h;
          if (key < seen.begin || key >= seen.end) {
            s[m][r / 2 * 4 + 2 * h + r % 2] = negative_infinity();
          }
        }
      }
    }
  }

  __device__ __forceinline__ void raise_references(const Scores& s, Sums& sums) const {
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
      const float factor = ex2_approx_ftz((sums.reference[r] - raised) * scale_log2_);
      sums.reference[r] = raised;
      sums.sum[r] *= factor;
      scale_row(sums, r, factor);
    }
  }

  // Greatest value of all threads.
  __device__ __forceinline__ float max_of_warps(float value) const {
    const float of_warp = max_of_lanes(value);
    named_barrier_wait(kConsumerBarrier, S::kConsumers);  // statistics of rows have been read
    if (lane_ == 0) {
      statistics_[warp_] = of_warp;
    }
    named_barrier_wait(kConsumerBarrier, S::kConsumers);
    return fmaxf(fmaxf(statistics_[0], statistics_[1]), fmaxf(statistics_[2], statistics_[3]));
  }

  __device__ __forceinline__ void exponentiate(Scores& s, Sums& sums) const {
#pragma unroll
    for (int r = 0; r < S::kRefs; ++r) {
      float shift = -sums.reference[r] * scale_log2_;
      if constexpr (Scales<S>::kUnitsLog2 != 0) {
        shift += static_cast<float>(Scales<S>::kUnitsLog2);
      }
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
      store_transposed<S, S::kProbabilitiesAreBf16>(smem_ + Plan::kP + m * Plan::kPanelBytesQ,
                                                    [&](int i) { return s[m][i]; });
    }
  }

  // Adds up the sums of the lanes and warps that have other keys of the same rows.
  __device__ __forceinline__ void total(Sums& sums) const {
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

  // Adds the sinks of the rows' heads, with the first part of the keys.
  __device__ __forceinline__ void add_sinks(const Part& part, Sums& sums) const {
#pragma unroll
    for (int r = 0; r < S::kRefs; ++r) {
      const float factor = add_sink(sums.reference[r], sums.sum[r],
                                    sink_of_row(work_, part, row_of(r)), scale_log2_);
      scale_row(sums, r, factor);
    }
  }

  // Multiplies the thread's row r of O.
  __device__ __forceinline__ static void scale_row(Sums& sums, int r, float factor) {
#pragma unroll
    for (int panel = 0; panel < S::kPanels; ++panel) {
      sums.o[panel][r / 2 * 4 + r % 2] *= factor;
      sums.o[panel][r / 2 * 4 + 2 + r % 2] *= factor;
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
  float scale_log2_;  // of scores, to exponents of two
  float slack_;       // by how much scores may exceed their row's reference
  int steps_ = 0;     // of the parts before
};

#endif
