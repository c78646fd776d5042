// Rows of O that several blocks compute, each with some of the keys: sums of the parts, and their
// union, which the block makes that comes last. It adds in the order of the blocks, so that the
// result does not depend on which one that is.
#ifndef FATUNE_KERNELS_FLASH_SM90_SPLIT_OUTPUT_CUH
#define FATUNE_KERNELS_FLASH_SM90_SPLIT_OUTPUT_CUH

#include "common/ptx_barrier.cuh"
#include "common/ptx_math.cuh"
#include "common/ptx_memory.cuh"
#include "flash_sm90/kernel_args.cuh"
#include "flash_sm90/softmax.cuh"
#include "flash_sm90/tile_schedule.cuh"

// The parts of one tile's rows that a consumer has. A part in global memory is
// [kOutputs / 4 + 1][128] float4: of each thread its sums of O as they are in registers, and then
// its state. work.parts is such parts, [blocks][2][kGroups]: a block has at most two, of the tile
// with which its share begins and of the one with which it ends.
//
// threads: one warpgroup, converged, in every function
template <typename S>
class SplitOutput {
 public:
  // group: which consumer; thread: of the warpgroup; barrier: a named one of the consumer's
  __device__ __forceinline__ SplitOutput(const Work& work, int split, int group, int thread,
                                         unsigned barrier)
      : work_(work),
        split_(split),
        group_(group),
        thread_(thread),
        barrier_(barrier),
        first_(share_owner(work, split * work.tile_steps)),
        last_(share_owner(work, (split + 1) * work.tile_steps - 1)) {}

  // Adds this block's part to those of the other blocks. Returns whether it was the last one; then
  // `o` and `state` are those of all keys.
  // sync: when it returns, all of the consumer have read Q
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
  static constexpr int kAtOnce = 32;  // of a thread's sums, which a part's loads bring together

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

  // Whether all other blocks' parts are there; this block needs to store none then, and the counter
  // is 0 again.
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

  // Counts this block's part, which is stored. Returns whether it was the last one; the counter is
  // then 0 again.
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

  // o[at ...] and the sums of probabilities of all parts; `own` is the state of this block's.
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
  const int first_;  // the blocks with parts of the tile
  const int last_;
};

#endif
