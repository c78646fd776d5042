// The counter: one warp that counts the parts of a tile of rows when they are stored, so that the
// consumer need not wait until other blocks see its part.
#ifndef FATUNE_KERNELS_FLASH_DECODE_COUNTER_CUH
#define FATUNE_KERNELS_FLASH_DECODE_COUNTER_CUH

#include "common/ptx_barrier.cuh"
#include "common/ptx_memory.cuh"
#include "flash_decode/config.cuh"
#include "flash_decode/kernel_args.cuh"
#include "flash_decode/part_schedule.cuh"

// Orders this thread's accesses before the fence before those behind it, for all threads of the
// GPU. __threadfence() also has a place in one order of all such fences, which takes longer.
__device__ __forceinline__ void fence_counts() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }

// Tells the consumer of each part whether it was the last of its rows. Counters are 0 again after
// the last. threads: one
template <typename S>
__device__ __forceinline__ void count_parts(const Work& work, unsigned char* memory,
                                            unsigned smem) {
  using Plan = SmemPlan<S>;
  if (merges_sums(work)) {
    return;
  }
  Ring<S::kSlots> slot;
#pragma unroll 1
  for (;;) {
    const unsigned full = smem + Plan::full_part(slot.index);
    mbarrier_wait(full, slot.parity);
    const Part part = read_part(memory + Plan::kParts + 48 * slot.index);
    if (part.batch < 0) {
      return;
    }
    // Items are behind all parts.
    if (part.item < 0) {
      mbarrier_wait(smem + Plan::stored(slot.index), slot.parity);
    }
    // Not before: `stored` could complete again, for the part after the next, before this wait.
    mbarrier_arrive(Plan::empty(full));
    if (part.item >= 0) {
      slot.advance();
      continue;
    }
    bool is_last = false;
    if (part.parts > 1) {
      int* const counter = counter_of(work, part);
      fence_counts();
      if (work.tile_items > 0) {
        count_one(counter);
      } else {
        is_last = count_one(counter, part.parts - 1) == part.parts - 1;
        if (is_last) {
          fence_counts();
        }
      }
    }
    reinterpret_cast<volatile int*>(memory + Plan::kVerdicts)[slot.index] = is_last ? 1 : 0;
    mbarrier_arrive(smem + Plan::judged(slot.index));
    slot.advance();
  }
}

#endif
