// What the consumers do with parts and with shares of sums, in the order in which the producer
// passes them on.
#ifndef FATUNE_KERNELS_FLASH_DECODE_CONSUME_CUH
#define FATUNE_KERNELS_FLASH_DECODE_CONSUME_CUH

#include "common/ptx_barrier.cuh"
#include "common/ptx_memory.cuh"
#include "flash_decode/config.cuh"
#include "flash_decode/counter.cuh"
#include "flash_decode/kernel_args.cuh"
#include "flash_decode/output.cuh"
#include "flash_decode/part_schedule.cuh"
#include "flash_decode/short_consumer.cuh"
#include "flash_decode/tall_consumer.cuh"
#include "flash_decode/tall_latent_consumer.cuh"

inline constexpr unsigned kItemBarrier = 3;

// threads: whole warps, converged
__device__ __forceinline__ Part warp_uniform(const Part& part) {
  return {warp_uniform(part.batch), warp_uniform(part.head),  warp_uniform(part.row_tile),
          warp_uniform(part.keys),  warp_uniform(part.step),  warp_uniform(part.end),
          warp_uniform(part.parts), warp_uniform(part.index), warp_uniform(part.item),
          warp_uniform(part.first)};
}

template <typename S, bool kTall = S::kTall, bool kLatent = S::kLatent>
struct ConsumerOf {
  using Type = ShortConsumer<S>;
};
template <typename S>
struct ConsumerOf<S, true, false> {
  using Type = TallConsumer<S>;
};
template <typename S>
struct ConsumerOf<S, true, true> {
  using Type = LatentConsumer<S>;
};

// Reads a part that the producer passed on. The first lane does so, which later frees the slot.
// threads: whole converged warps
__device__ __forceinline__ Part read_part_for_warp(const unsigned char* from) {
  return warp_uniform(threadIdx.x % 32 == 0 ? read_part(from) : Part{});
}

// threads: all consumers, converged, in all functions
template <typename S>
class Consuming {
 public:
  using Plan = SmemPlan<S>;
  using Consumer = typename ConsumerOf<S>::Type;
  using Sums = typename Consumer::Sums;

  __device__ __forceinline__ Consuming(const Work& work, unsigned char* memory, unsigned smem)
      : work_(work), memory_(memory), smem_(smem), consumer_(work, memory, smem), output_(work) {
    before_.batch = -1;
  }

  __device__ __forceinline__ void run() {
#pragma unroll 1
    for (;;) {
      const unsigned full = smem_ + Plan::full_part(slot_.index);
      mbarrier_wait(full, slot_.parity);
      const Part part = read_part_for_warp(memory_ + Plan::kParts + 48 * slot_.index);
      SumsToAdd rows{{}, 0, 0};
      if (part.batch >= 0 && part.item < 0) {
        compute(part, full);
      } else if (part.batch >= 0) {
        rows = {part, part.item, await_parts(part)};
        arrive(Plan::empty(full));
      }
      slot_.advance();
      if (work_.tile_items == 0 && before_.batch >= 0) {
        rows = {before_, 0, await_verdict()};
      }
      const int items = warp_uniform(rows.items);
      if (items > 0) {
        output_.add_parts(warp_uniform(rows.tile), warp_uniform(rows.item), items);
      }
      if (part.batch < 0) {
        return;
      }
      before_ = part;
    }
  }

 private:
  // An item of the sums of a tile's parts.
  struct SumsToAdd {
    Part tile;
    int item;
    int items;  // of the tile; 0: nothing is to be added up
  };

  // Arrives once for each warp, when all its threads are here.
  __device__ __forceinline__ void arrive(unsigned barrier) const {
    __syncwarp();
    if (threadIdx.x % 32 == 0) {
      mbarrier_arrive(barrier);
    }
  }

  __device__ __forceinline__ void compute(const Part& part, unsigned full) {
    Sums sums;
    consumer_.compute(part, slot_.index, sums);
    if (part.parts == 1) {
      output_.store_rows(part, sums, smem_ + Plan::query(slot_.index));
    } else if (merges_sums(work_)) {
      merge(part, sums);
    } else {
      output_.store_sums(part, sums);
    }
    if constexpr (!S::kTall) {  // a tall consumer frees its Q earlier
      arrive(smem_ + Plan::free_query(slot_.index % S::kQueryTiles));
    }
    // The slot is free last. Otherwise a warp that is two parts ahead of another could count twice
    // for the part that the other has not stored.
    arrive(smem_ + Plan::stored(slot_.index));
    arrive(Plan::empty(full));
  }

  // Adds up the sums of both parts, and stores this block's share of them.
  __device__ __forceinline__ void merge(const Part& part, Sums& sums) const {
    if constexpr (kCanMerge) {
      Merging<S>(work_, smem_).exchange(sums);
      output_.store_share(part, sums);
    }
  }

  // Returns 1 in the warp's first lane if this block stored the last part of the rows of the part
  // before, else 0.
  __device__ __forceinline__ int await_verdict() {
    mbarrier_wait(smem_ + Plan::judged(verdict_.index), verdict_.parity);
    int is_last = 0;
    if (threadIdx.x % 32 == 0) {  // the lane that arrives for its warp
      is_last = reinterpret_cast<const volatile int*>(memory_ + Plan::kVerdicts)[verdict_.index];
    }
    verdict_.advance();
    return is_last;
  }

  // Waits until all parts of the item's tile are stored, and returns the tile's items. Who takes
  // the last item resets the tile's counter.
  __device__ __forceinline__ int await_parts(const Part& part) const {
    if (part.parts == 1) {
      return 0;
    }
    int* const counter = counter_of(work_, part);
    if (threadIdx.x == 0) {
      while (ld_global_acquire(counter) < part.parts) {
      }
    }
    named_barrier_wait(kItemBarrier, S::kConsumers);
    if (threadIdx.x == 0) {
      count_one(counter, part.parts + work_.tile_items - 1);
    }
    return work_.tile_items;
  }

  const Work& work_;
  unsigned char* const memory_;
  const unsigned smem_;
  Consumer consumer_;
  const Output<S, Sums> output_;
  Ring<S::kSlots> slot_;
  Ring<S::kSlots> verdict_;  // the slot of the part before
  Part before_;
};

#endif
