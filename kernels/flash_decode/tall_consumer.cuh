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
#include "flash_decode/sums.cuh"
#include "flash_decode/tall_rows.cuh"
#include "flash_decode/values_end.cuh"

inline constexpr unsigned kFirstTurnBarrier = 4;  // one for each consumer

// threads: the warpgroup, converged, in all functions
template <typename S>
class TallConsumer : TallRows<S> {
  using Rows = TallRows<S>;
  using Rows::add_sinks;
  using Rows::clear;
  using Rows::dump;
  using Rows::find_seen;
  using Rows::group_;
  using Rows::mask;
  using Rows::multiply_values;
  using Rows::pack;
  using Rows::release;
  using Rows::release_query;
  using Rows::scale_log2_;
  using Rows::smem_;
  using Rows::tiles_;
  using Rows::total;
  using Rows::work_;
  using typename Rows::Plan;
  using typename Rows::Probabilities;
  using typename Rows::Scores;

 public:
  using typename Rows::Sums;

  __device__ __forceinline__ TallConsumer(const Work& work, unsigned char*, unsigned smem)
      : Rows(work, smem) {
    if (group_ == S::kGroups - 1) {
      pass_turn();
    }
  }

  // Computes the sums of a part; slot: of its Q.
  __device__ __forceinline__ void compute(const Part& part, int slot, Sums& sums) {
    clear(sums);
    if (part.step >= part.end) {
      release_query(slot);
      if constexpr (kSinks) {
        add_sinks(part, sums);
      }
      return;
    }
    find_seen(part);
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

 private:
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
    this->template multiply_queries<>(s, sQ, at_k.index);
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
    multiply_values(sums, p, smem_ + Plan::value(at_v.index));
  }

  // Waits for O += P V, and frees the tile of V.
  __device__ __forceinline__ void await_output(Sums& sums, const Ring<S::kStages>& at_v) const {
    wgmma_wait<0>();
    after_wait(sums.o);
    release(Plan::full_v(at_v.index));
  }
};

#endif
