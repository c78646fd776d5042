// A latent consumer: one of two warpgroups that have the same 64 packed rows, and 256 columns of O
// each. V is columns of K, so that one tile is the operand of both products.
//
// Each consumer has a buffer of 64 keys. Of the step whose keys are there, it computes S = Q K^T
// and P, and hands P and the state of the softmax over to the other one: its thread with the same
// place has the same rows, so that it takes them as they are in registers. Both then add O += P V,
// and each frees the panels that it alone has read last.
#ifndef FATUNE_KERNELS_FLASH_DECODE_TALL_LATENT_CONSUMER_CUH
#define FATUNE_KERNELS_FLASH_DECODE_TALL_LATENT_CONSUMER_CUH

#include "common/online_softmax.cuh"
#include "common/ptx_barrier.cuh"
#include "common/ptx_math.cuh"
#include "common/ptx_memory.cuh"
#include "common/ptx_wgmma.cuh"
#include "flash_decode/config.cuh"
#include "flash_decode/kernel_args.cuh"
#include "flash_decode/merge.cuh"
#include "flash_decode/part_schedule.cuh"
#include "flash_decode/sums.cuh"
#include "flash_decode/tall_rows.cuh"
#include "flash_decode/values_end.cuh"

// threads: the warpgroup, converged, in all functions
template <typename S>
class LatentConsumer : TallRows<S> {
  using Rows = TallRows<S>;
  using Rows::add_sinks;
  using Rows::clear;
  using Rows::dump;
  using Rows::find_seen;
  using Rows::group_;
  using Rows::lane_;
  using Rows::mask;
  using Rows::multiply_values;
  using Rows::pack;
  using Rows::release;
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

  __device__ __forceinline__ LatentConsumer(const Work& work, unsigned char*, unsigned smem)
      : Rows(work, smem) {}

  // Computes the sums of a part; slot: of its Q.
  __device__ __forceinline__ void compute(const Part& part, int slot, Sums& sums) {
    clear(sums);
    const int first = warp_uniform(part.step);
    const int end = warp_uniform(part.end);
    Ring<S::kStages> at = ring_at<S::kStages>(warp_uniform(tiles_));
    // The last step whose scores this consumer computes, if that is not before the first.
    const int last_own = end - 1 - ((end - 1 - first + at.index) % 2 == group_ ? 0 : 1);
    const unsigned query_read = query_barrier(part, slot);
    if (last_own < first) {
      release_query(query_read);
    }
    find_seen(part);
#pragma unroll 1
    for (int step = first; step < end; ++step) {
      Probabilities p;
      Rescale rescale;
      if (at.index == group_) {
        rescale = compute_probabilities(p, sums, part, step, slot, at);
        if (step == last_own) {
          release_query(query_read);
        }
        hand_over(p, sums.softmax);
      } else {
        rescale = take_over(p, sums.softmax, at.parity);
      }
      rescale_output<S>(sums.o, rescale);
      add_values(sums, p, at);
      dump(part, step).output(sums);
      at.advance();
    }
    tiles_ += max(end - first, 0);
    total(sums);
    if constexpr (kSinks) {
      add_sinks(part, sums);
    }
  }

 private:
  // P of a step whose keys are in this consumer's buffer. Returns what becomes of O.
  __device__ __forceinline__ Rescale compute_probabilities(Probabilities& p, Sums& sums,
                                                           const Part& part, int step, int slot,
                                                           const Ring<S::kStages>& at) const {
    const unsigned sQ = warp_uniform(smem_ + Plan::query(slot)) & kAligned1024;
    constexpr int kParted = Plan::kFirstPanels * 4;
    Scores s;
    mbarrier_wait(smem_ + Plan::full_k(at.index), at.parity);
    if (step + 1 == part.end) {
      mbarrier_wait(smem_ + Plan::full_v(at.index), at.parity);
      clear_values_behind<S>(work_, part, smem_, at);
    }
    // The first part of the tile is multiplied while the second one arrives.
    this->template multiply_queries<0, kParted>(s, sQ, at.index);
    mbarrier_wait(smem_ + Plan::full_v(at.index), at.parity);
    this->template multiply_queries<kParted>(s, sQ, at.index);
    wgmma_commit();
    wgmma_wait<0>();
    after_wait(s);
    cap_scores<S::kScores>(s, work_);
    mask(s, part, step);
    const Rescale rescale = softmax_step<S::kStepKeys, S>(s, sums.softmax, scale_log2_);
    pack(p, s, sums, part, step);
    return rescale;
  }

  // The mbarrier of the cluster to arrive at when Q has been read: that of the tile of Q, or where
  // sums are merged, that of the other block, which sends its sums there.
  __device__ __forceinline__ unsigned query_barrier(const Part& part, int slot) const {
    if constexpr (kCanMerge) {
      const bool merges = merges_sums(work_) && part.parts > 1;
      return cluster_address(smem_ + (merges ? Plan::kSentFree : Plan::free_query(0)),
                             cluster_block_rank() ^ (merges ? 1 : 0));
    } else {
      return smem_ + Plan::free_query(slot % S::kQueryTiles);
    }
  }

  // Without branches, so that the compiler schedules the step as a whole.
  __device__ __forceinline__ void release_query(unsigned barrier) const {
    if constexpr (kCanMerge) {
      if (lane_ == 0) {
        mbarrier_arrive_cluster(barrier);
      }
    } else if (lane_ == 0) {
      mbarrier_arrive(barrier);
    }
  }

  // O += P V of this consumer's columns; frees their panels of the tile.
  __device__ __forceinline__ void add_values(Sums& sums, const Probabilities& p,
                                             const Ring<S::kStages>& at) const {
    const unsigned panels = group_ * Plan::kFirstBytes;
    const unsigned full = group_ == 0 ? Plan::full_k(at.index) : Plan::full_v(at.index);
    mbarrier_wait(smem_ + full, at.parity);
    multiply_values(sums, p, smem_ + Plan::key(at.index) + panels);
    wgmma_wait<0>();
    after_wait(sums.o);
    release(full);
  }

  // Hands P and the state over. The other consumer has taken what this one handed over before,
  // since it has handed over itself.
  __device__ __forceinline__ void hand_over(const Probabilities& p,
                                            const SoftmaxState& state) const {
    const unsigned to = handed_over();
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      st_shared_16(to + i * kBetween, {p[4 * i], p[4 * i + 1], p[4 * i + 2], p[4 * i + 3]});
    }
    st_shared_16(to + kWords * kBetween,
                 {__float_as_uint(state.reference[0]), __float_as_uint(state.reference[1]),
                  __float_as_uint(state.sum[0]), __float_as_uint(state.sum[1])});
    mbarrier_arrive(smem_ + Plan::full_handover(group_, own_warp()));
  }

  // Waits for what the other consumer hands over. Returns what becomes of O.
  __device__ __forceinline__ Rescale take_over(Probabilities& p, SoftmaxState& state,
                                               unsigned parity) const {
    mbarrier_wait(smem_ + Plan::full_handover(group_ ^ 1, own_warp()), parity);
    const unsigned from = handed_over();
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      const uint4 words = ld_shared_16(from + i * kBetween);
      p[4 * i] = words.x;
      p[4 * i + 1] = words.y;
      p[4 * i + 2] = words.z;
      p[4 * i + 3] = words.w;
    }
    const uint4 words = ld_shared_16(from + kWords * kBetween);
    const SoftmaxState now{{__uint_as_float(words.x), __uint_as_float(words.y)},
                           {__uint_as_float(words.z), __uint_as_float(words.w)}};
    Rescale rescale{__any_sync(0xffffffffu, now.reference[0] != state.reference[0] ||
                                                now.reference[1] != state.reference[1]) != 0,
                    {1.0f, 1.0f}};
    if (rescale.needed) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        rescale.factor[h] = ex2_approx_ftz((state.reference[h] - now.reference[h]) * scale_log2_);
      }
    }
    state = now;
    return rescale;
  }

  // Index in the consumer.
  __device__ __forceinline__ static int own_warp() {
    return static_cast<int>(threadIdx.x) / 32 % 4;
  }

  // Where the thread's words are that are handed over.
  __device__ __forceinline__ unsigned handed_over() const {
    return smem_ + Plan::kP + 16 * (threadIdx.x % 128);
  }

  static constexpr int kWords = S::kScores / 8;   // of 16 bytes, of P
  static constexpr unsigned kBetween = 128 * 16;  // bytes
};

#endif
