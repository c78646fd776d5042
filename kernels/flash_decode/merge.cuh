// Two blocks of a cluster have the two parts of a tile of rows. Each finishes half of the columns
// of each consumer: the other one sends it its sums of these through shared memory, as registers
// have them, since the thread with the same place in the other block has the same rows and columns.
#ifndef FATUNE_KERNELS_FLASH_DECODE_MERGE_CUH
#define FATUNE_KERNELS_FLASH_DECODE_MERGE_CUH

#include "common/ptx_barrier.cuh"
#include "common/ptx_math.cuh"
#include "common/ptx_memory.cuh"
#include "flash_decode/config.cuh"
#include "flash_decode/kernel_args.cuh"
#include "flash_decode/sums.cuh"

// A block has one part, so that each mbarrier has one phase.
// threads: all consumers, converged, in all functions without other contracts
template <typename S>
class Merging {
 public:
  using Plan = SmemPlan<S>;
  using Sums = TallSums<S>;

  __device__ __forceinline__ Merging(const Work& work, unsigned smem)
      : smem_(smem), scale_log2_(score_unit(work) * 1.44269504088896340736f) {}

  // threads: one
  __device__ __forceinline__ static void initialise(unsigned smem) {
    mbarrier_init(smem + Plan::kSentFree, S::kConsumerWarps);
    mbarrier_init(smem + Plan::kSentFull, S::kConsumerWarps);
  }

  // Sends the other block the sums that it finishes, and adds what it sends to the others.
  __device__ __forceinline__ void exchange(Sums& sums) const {
    mbarrier_wait_for_cluster(smem_ + Plan::kSentFree, 0);
    if (cluster_block_rank() == 0) {
      send<kSquares>(sums, 1);
    } else {
      send<0>(sums, 0);
    }
    __syncwarp();
    if (threadIdx.x % 32 == 0) {
      mbarrier_release_cluster(cluster_address(smem_ + Plan::kSentFull, cluster_block_rank() ^ 1));
    }
    mbarrier_wait_for_cluster(smem_ + Plan::kSentFull, 0);
    const Factors factors = add_states(sums.softmax);
    if (cluster_block_rank() == 0) {
      add<0>(sums, factors);
    } else {
      add<kSquares>(sums, factors);
    }
  }

 private:
  enum : int { kSquares = Sums::kSquares / 2 };       // of a thread, that a block finishes
  enum : unsigned { kBetween = S::kConsumers * 16 };  // bytes
  enum : unsigned { kStates = kSquares * kBetween };  // offset
  static_assert(!kCanMerge || kStates + kBetween <= Plan::kBytesQ, "sums fit where Q is");

  // Of a row's own sums and of those that were sent.
  struct Factors {
    float own[2];
    float sent[2];
  };

  // Where the thread's words are that are sent.
  __device__ __forceinline__ unsigned sent() const { return smem_ + Plan::kQ + 16 * threadIdx.x; }

  template <int kFirst>
  __device__ __forceinline__ void send(const Sums& sums, unsigned rank) const {
    const unsigned to = cluster_address(sent(), rank);
    st_cluster_16(to + kStates, sums.state(0));
#pragma unroll
    for (int i = 0; i < kSquares; ++i) {
      st_cluster_16(to + i * kBetween, sums.elements(0, kFirst + i));
    }
  }

  __device__ __forceinline__ Factors add_states(SoftmaxState& state) const {
    const float4 other = ld_sent(kStates);
    const float references[2] = {other.x, other.z};
    const float totals[2] = {other.y, other.w};
    Factors factors;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float raised = fmaxf(state.reference[h], references[h]);
      factors.own[h] = ex2_approx_ftz((state.reference[h] - raised) * scale_log2_);
      factors.sent[h] = ex2_approx_ftz((references[h] - raised) * scale_log2_);
      state.reference[h] = raised;
      state.sum[h] = state.sum[h] * factors.own[h] + totals[h] * factors.sent[h];
    }
    return factors;
  }

  template <int kFirst>
  __device__ __forceinline__ void add(Sums& sums, const Factors& factors) const {
#pragma unroll
    for (int i = 0; i < kSquares; ++i) {
      const float4 square = ld_sent(i * kBetween);
      const float elements[4] = {square.x, square.y, square.z, square.w};
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        float& own = sums.o[4 * (kFirst + i) + j];
        own = own * factors.own[j / 2] + elements[j] * factors.sent[j / 2];
      }
    }
  }

  __device__ __forceinline__ float4 ld_sent(unsigned offset) const {
    const uint4 words = ld_shared_16(sent() + offset);
    return {__uint_as_float(words.x), __uint_as_float(words.y), __uint_as_float(words.z),
            __uint_as_float(words.w)};
  }

  const unsigned smem_;
  const float scale_log2_;
};

#endif
