// Combines rows of O that several blocks compute, each from some of the keys. A block stores its
// partial sums and counts itself; the block that arrives last adds all parts. It adds them in the
// order of the blocks, so that the result does not depend on which block is last.
#ifndef FATUNE_KERNELS_FLASH_SM90_SPLIT_OUTPUT_CUH
#define FATUNE_KERNELS_FLASH_SM90_SPLIT_OUTPUT_CUH

#include "common/online_softmax.cuh"
#include "common/ptx_barrier.cuh"
#include "common/ptx_math.cuh"
#include "common/ptx_memory.cuh"
#include "flash_sm90/kernel_args.cuh"
#include "flash_sm90/tile_schedule.cuh"

// One consumer's rows of one split tile. A part in global memory is [kOutputs / 4 + 1][128] float4:
// each thread's accumulators of O in their order in registers, then its softmax state. work.parts
// is [blocks][2][kGroups] parts: a block has at most two split tiles that it shares with others,
// the first and the last of its share.
//
// threads: one warpgroup, converged, in every function
template <typename S>
class SplitOutput {
 public:
  // group: the consumer; thread: index in its warpgroup; barrier: a named barrier of the consumer
  __device__ __forceinline__ SplitOutput(const Work& work, int split, int group, int thread,
                                         unsigned barrier)
      : work_(work),
        split_(split),
        group_(group),
        thread_(thread),
        barrier_(barrier),
        first_(share_owner(work, split * work.tile_steps)),
        last_(share_owner(work, (split + 1) * work.tile_steps - 1)) {}

  // Adds this block's part to those of the other blocks. Returns whether this block was the last;
  // if so, `o` and `state` then cover all keys.
  // sync: all threads of the consumer have finished reading Q when it returns
  __device__ __forceinline__ bool unite(float (&o)[S::kOutputs], SoftmaxState& state,
                                        float scale_log2) const {
    if (!others_are_there()) {
      store(o, state);
      if (!count_part()) {
        return false;
      }
    }
    const SoftmaxState own = state;
    find_references(state);
#pragma unroll
    for (int at = 0; at < S::kOutputs; at += kAtOnce) {
      add_parts(o, at, own, state, scale_log2);
    }
    return true;
  }

 private:
  static constexpr int kStateAt = S::kOutputs / 4;
  // Accumulators that a thread loads per batch: they divide all, and are whole float4.
  static constexpr int kAtOnce = S::kOutputs % 32 == 0  ? 32
                                 : S::kOutputs % 8 == 0 ? S::kOutputs / 2
                                                        : S::kOutputs / 3;
  static_assert(S::kOutputs % kAtOnce == 0 && kAtOnce % 4 == 0, "batches of whole float4");

  __device__ __forceinline__ float4* part_of(int block) const {
    const bool ends_share = share_begin(work_, block) < split_ * work_.tile_steps;
    const int part = (2 * block + (ends_share ? 1 : 0)) * S::kGroups + group_;
    return work_.parts + part * ((kStateAt + 1) * S::kGroupThreads) + thread_;
  }

  __device__ __forceinline__ float4 load(int block, int at) const {
    return __ldcg(part_of(block) + at * S::kGroupThreads);
  }

  __device__ __forceinline__ void store(const float (&o)[S::kOutputs],
                                        const SoftmaxState& state) const {
    float4* const part = part_of(static_cast<int>(blockIdx.x));
#pragma unroll
    for (int i = 0; i < S::kOutputs / 4; ++i) {
      part[i * S::kGroupThreads] = {o[4 * i], o[4 * i + 1], o[4 * i + 2], o[4 * i + 3]};
    }
    part[kStateAt * S::kGroupThreads] = {state.reference[0], state.reference[1], state.sum[0],
                                         state.sum[1]};
  }

  __device__ __forceinline__ int* counter() const {
    return work_.part_count + split_ * S::kGroups + group_;
  }

  // Returns whether all other blocks have stored their parts. If so, this block need not store its
  // own, and the counter is reset to 0.
  __device__ __forceinline__ bool others_are_there() const {
    bool there = false;
    if (thread_ == 0) {
      there = ld_global_acquire(counter()) == last_ - first_;
      if (there) {
        st_global_relaxed(counter(), 0);
      }
    }
    return named_barrier_any(barrier_, S::kGroupThreads, there);
  }

  // Counts this block's part, which must be stored. Returns whether it was the last part; if so,
  // the counter is reset to 0.
  __device__ __forceinline__ bool count_part() const {
    named_barrier_wait(barrier_, S::kGroupThreads);
    bool last = false;
    if (thread_ == 0) {
      __threadfence();
      last = atomicAdd(counter(), 1) == last_ - first_;
      if (last) {
        st_global_relaxed(counter(), 0);
      }
      __threadfence();
    }
    return named_barrier_any(barrier_, S::kGroupThreads, last);
  }

  __device__ __forceinline__ void find_references(SoftmaxState& state) const {
#pragma unroll 1
    for (int block = first_; block <= last_; ++block) {
      if (block != static_cast<int>(blockIdx.x)) {
        const float4 part = load(block, kStateAt);
        state.reference[0] = fmaxf(state.reference[0], part.x);
        state.reference[1] = fmaxf(state.reference[1], part.y);
      }
    }
  }

  // Adds up o[at ...] and the sums of probabilities of all parts. `own`: this block's own state.
  __device__ __forceinline__ void add_parts(float (&o)[S::kOutputs], int at,
                                            const SoftmaxState& own, SoftmaxState& state,
                                            float scale_log2) const {
    float united[kAtOnce] = {};
    state.sum[0] = state.sum[1] = 0.0f;
#pragma unroll 1
    for (int block = first_; block <= last_; ++block) {
      float4 part{own.reference[0], own.reference[1], own.sum[0], own.sum[1]};
      float of[kAtOnce];
      if (block == static_cast<int>(blockIdx.x)) {
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
          of[i] = o[at + i];
        }
      } else {
        part = load(block, kStateAt);
#pragma unroll
        for (int i = 0; i < kAtOnce; i += 4) {
          const float4 four = load(block, (at + i) / 4);
          of[i] = four.x;
          of[i + 1] = four.y;
          of[i + 2] = four.z;
          of[i + 3] = four.w;
        }
      }
      const float factor[2] = {ex2_approx_ftz((part.x - state.reference[0]) * scale_log2),
                               ex2_approx_ftz((part.y - state.reference[1]) * scale_log2)};
      state.sum[0] += factor[0] * part.z;
      state.sum[1] += factor[1] * part.w;
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        united[i] += factor[i / 2 % 2] * of[i];
      }
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      o[at + i] = united[i];
    }
  }

  const Work& work_;
  const int split_;
  const int group_;
  const int thread_;
  const unsigned barrier_;
  const int first_;  // first and last block that have a part of the tile
  const int last_;
};

#endif
