// The producer: one warp that takes parts and brings their Q, K and V into shared memory.
#ifndef FATUNE_KERNELS_FLASH_DECODE_PRODUCER_CUH
#define FATUNE_KERNELS_FLASH_DECODE_PRODUCER_CUH

#include "common/ptx_barrier.cuh"
#include "common/ptx_tma.cuh"
#include "flash_decode/config.cuh"
#include "flash_decode/kernel_args.cuh"
#include "flash_decode/part_schedule.cuh"

template <typename S>
class Producer {
 public:
  using Plan = SmemPlan<S>;

  __device__ __forceinline__ Producer(const Work& work, const TensorMap* map_q,
                                      const TensorMap* map_k, const TensorMap* map_v,
                                      unsigned char* memory, unsigned smem)
      : work_(work), map_q_(map_q), map_k_(map_k), map_v_(map_v), memory_(memory), smem_(smem) {}

  // threads: one warp, converged
  __device__ __forceinline__ void run() {
    const int parts = parts_of_all<S>(work_);
    const bool is_first = threadIdx.x % 32 == 0;
    int index = static_cast<int>(blockIdx.x);
#pragma unroll 1
    while (index < parts) {
      const Part part = part_at<S>(work_, index);
      if (is_first) {
        announce(part);
        index = next_index(parts);
        load(part);
      }
      index = __shfl_sync(0xffffffffu, index, 0);
    }
    if (is_first) {
      Part none{};
      none.batch = -1;
      pass(none);
      mbarrier_arrive(smem_ + Plan::full_part(slot_.index));
    }
  }

 private:
  // threads: one, in all functions

  // Takes the next part from the counter. The block that takes the last one resets it.
  __device__ __forceinline__ int next_index(int parts) const {
    if (parts <= static_cast<int>(gridDim.x)) {
      return parts;
    }
    const int count = atomicAdd(work_.next_part, 1);
    if (count == parts - 1) {
      *work_.next_part = 0;
    }
    return static_cast<int>(gridDim.x) + count;
  }

  __device__ __forceinline__ void pass(const Part& part) const {
    mbarrier_wait(Plan::empty(smem_ + Plan::full_part(slot_.index)), slot_.parity ^ 1);
    int4* const to = reinterpret_cast<int4*>(memory_ + Plan::kParts + 48 * slot_.index);
    to[0] = {part.batch, part.head, part.row_tile, part.keys};
    to[1] = {part.step, part.end, part.parts, part.index};
    to[2].x = part.number;
  }

  // Passes the part on, with the queries of its rows.
  __device__ __forceinline__ void announce(const Part& part) {
    pass(part);
    const unsigned full = smem_ + Plan::full_part(slot_.index);
    const unsigned to = smem_ + Plan::query(slot_.index);
    mbarrier_arrive_expect(full, S::kPanels * 128 * work_.tile_queries * work_.group);
#pragma unroll
    for (int panel = 0; panel < S::kPanels; ++panel) {
      tma_load(to + panel * Plan::kPanelBytesQ, map_q_,
               {64 * panel, 0, part.row_tile * work_.tile_queries, part.head, part.batch}, full);
    }
    slot_.advance();
  }

  __device__ __forceinline__ void load(const Part& part) {
#pragma unroll 1
    for (int step = part.step; step < part.end; ++step) {
      const unsigned full = smem_ + Plan::full(stage_.index);
      mbarrier_wait(Plan::empty(full), stage_.parity ^ 1);
      mbarrier_arrive_expect(full, 2 * Plan::kBytesKv);
      const Coordinates5 at{0, step * S::kStepKeys, 0, part.head, part.batch};
      tma_load<L2Policy::kEvictFirst>(smem_ + Plan::key(stage_.index), map_k_, at, full);
      tma_load<L2Policy::kEvictFirst>(smem_ + Plan::value(stage_.index), map_v_, at, full);
      stage_.advance();
    }
  }

  const Work& work_;
  const TensorMap* map_q_;
  const TensorMap* map_k_;
  const TensorMap* map_v_;
  unsigned char* const memory_;
  const unsigned smem_;
  Ring<S::kSlots> slot_;
  Ring<S::kStages> stage_;
};

#endif
