// A tall consumer: a warpgroup that computes 64 of a tile's packed rows, as rows of both products,
// S = Q K^T and O += P V, with P in registers. While it takes the softmax of a step, the tensor
// cores multiply the step before.
#ifndef FATUNE_KERNELS_FLASH_DECODE_TALL_CONSUMER_CUH
#define FATUNE_KERNELS_FLASH_DECODE_TALL_CONSUMER_CUH

#include "common/online_softmax.cuh"
#include "common/ptx_barrier.cuh"
#include "common/ptx_memory.cuh"
#include "common/ptx_tma.cuh"
#include "common/ptx_wgmma.cuh"
#include "flash_decode/config.cuh"
#include "flash_decode/debug_dump.cuh"
#include "flash_decode/kernel_args.cuh"
#include "flash_decode/part_schedule.cuh"
#include "flash_decode/row_sink.cuh"
#include "flash_decode/seen_keys.cuh"
#include "flash_decode/sums.cuh"
#include "flash_decode/values_end.cuh"

inline constexpr unsigned kFirstTurnBarrier = 4;  // one for each consumer

// threads: the warpgroup, converged, in all functions
template <typename S>
class TallConsumer {
 public:
  using Plan = SmemPlan<S>;
  using Sums = TallSums<S>;

  __device__ __forceinline__ TallConsumer(const Work& work, unsigned char*, unsigned smem)
      : work_(work),
        smem_(smem),
        group_(warp_uniform(static_cast<int>(threadIdx.x) / 128)),
        lane_(static_cast<int>(threadIdx.x) % 32),
        scale_log2_(score_unit(work) * 1.44269504088896340736f) {
    if (group_ == S::kGroups - 1) {
      pass_turn();
    }
  }

  // Computes the sums of a part; slot: of its Q.
  __device__ __forceinline__ void compute(const Part& part, int slot, Sums& sums) {
    sums.softmax = {{kNothingSeen, kNothingSeen}, {0.0f, 0.0f}};
#pragma unroll
    for (int i = 0; i < S::kOutputs; ++i) {
      sums.o[i] = 0.0f;
    }
    if (part.step >= part.end) {
      release_query(slot);
      if constexpr (kSinks) {
        add_sinks(part, sums);
      }
      return;
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      seen_[h] = seen_keys(work_, part, row_of(h));
    }
    const unsigned sQ =
        warp_uniform(smem_ + Plan::query(slot) + group_ * (64 * 128)) & kAligned1024;
    const int first = warp_uniform(part.step);
    const int end = warp_uniform(part.end);
    Ring<S::kStages> at_k = ring_at<S::kStages>(warp_uniform(tiles_));
    Ring<S::kStages> at_v = at_k;
    Scores s;
    Probabilities p;  // of the step before
    // The first step has no step before. It takes the same way as the others, so that its
    // instructions are in the caches once they come.
#pragma unroll 1
    for (int step = first; step < end; ++step) {
      const bool is_first = step == first;
      await_turn();
      start_scores(s, sQ, at_k);
      if (is_first) {
        pass_turn();
        wgmma_wait<0>();
      } else {
        start_output(sums, p, at_v);
        pass_turn();
      }
      await_scores(s, at_k);
      cap_scores<S::kScores>(s, work_);
      mask(s, part, step);
      const Rescale rescale = softmax_step<S::kStepKeys, S>(s, sums.softmax, scale_log2_);
      if (!is_first) {
        await_output(sums, at_v);
        dump(part, step - 1).output(sums);
        rescale_output<S>(sums.o, rescale);
      }
      pack(p, s, sums, part, step);
      at_v = at_k;
      at_k.advance();
    }
    release_query(slot);
    clear_values_behind<S>(work_, part, smem_, at_v);
    start_output(sums, p, at_v);
    await_output(sums, at_v);
    dump(part, end - 1).output(sums);
    tiles_ += end - first;
    total(sums);
    if constexpr (kSinks) {
      add_sinks(part, sums);
    }
  }

  // The tile's row of element h of the state.
  __device__ __forceinline__ static int row_of(int h) {
    return static_cast<int>(threadIdx.x) / 32 * 16 + static_cast<int>(threadIdx.x) % 32 / 4 + 8 * h;
  }

 private:
  using Scores = float[S::kScores];
  using Probabilities = unsigned[S::kScores / 2];

  // Consumers take turns to start products, so that one computes exponentials while another has the
  // tensor cores.
  __device__ __forceinline__ void await_turn() const {
    if constexpr (S::kGroups > 1) {
      named_barrier_wait(kFirstTurnBarrier + group_, 256);
    }
  }
  __device__ __forceinline__ void pass_turn() const {
    if constexpr (S::kGroups > 1) {
      const int next = group_ + 1 == S::kGroups ? 0 : group_ + 1;
      named_barrier_arrive(kFirstTurnBarrier + next, 256);
    }
  }

  // Starts S = Q K^T; tile: number of the tile of K. out: pending
  __device__ __forceinline__ void start_scores(Scores& s, unsigned sQ,
                                               const Ring<S::kStages>& at_k) const {
    mbarrier_wait(smem_ + Plan::full_k(at_k.index), at_k.parity);
    const unsigned long long q = swizzled_descriptor(sQ, 0);
    const unsigned long long k = swizzled_descriptor(smem_ + Plan::key(at_k.index), 0);
    wgmma_fence();
#pragma unroll
    for (int at = 0; at < S::kHeadDim / 16; ++at) {
      const int within = at % 4 * (32 / 16);  // 16 columns are 32 bytes
      wgmma_shared<S::kIsBf16, S::kStepKeys>(s, q + at / 4 * (Plan::kPanelBytesQ / 16) + within,
                                             k + at / 4 * (Plan::kPanelBytesKv / 16) + within,
                                             at > 0 ? 1 : 0);
    }
    wgmma_commit();
  }

  // Waits for the scores, with O += P V still pending, and frees the tile of K.
  __device__ __forceinline__ void await_scores(Scores& s, const Ring<S::kStages>& at_k) const {
    wgmma_wait<1>();
    after_wait(s);
    release(Plan::full_k(at_k.index));
  }

  // Starts O += P V; tile: number of the tile of V. out: pending
  __device__ __forceinline__ void start_output(Sums& sums, const Probabilities& p,
                                               const Ring<S::kStages>& at_v) const {
    mbarrier_wait(smem_ + Plan::full_v(at_v.index), at_v.parity);
    const unsigned long long v =
        swizzled_descriptor(smem_ + Plan::value(at_v.index), Plan::kPanelBytesKv);
    wgmma_fence();
#pragma unroll
    for (int at = 0; at < S::kStepKeys / 16; ++at) {
      wgmma_registers<S::kIsBf16, S::kHeadDim>(sums.o, p + 4 * at, v + at * (16 * 128 / 16), 1);
    }
    wgmma_commit();
  }

  // Waits for O += P V, and frees the tile of V.
  __device__ __forceinline__ void await_output(Sums& sums, const Ring<S::kStages>& at_v) const {
    wgmma_wait<0>();
    after_wait(sums.o);
    release(Plan::full_v(at_v.index));
  }

  __device__ __forceinline__ void release(unsigned full) const {
    if (lane_ == 0) {
      mbarrier_arrive(smem_ + Plan::empty(full));
    }
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
