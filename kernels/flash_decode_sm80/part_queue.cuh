// Takes parts of the keys, and shares of their sums, from the counter of all blocks, and tells the
// block's threads.
#ifndef FATUNE_KERNELS_FLASH_DECODE_SM80_PART_QUEUE_CUH
#define FATUNE_KERNELS_FLASH_DECODE_SM80_PART_QUEUE_CUH

#include "flash_decode/part_schedule.cuh"
#include "flash_decode_sm80/config.cuh"
#include "flash_decode_sm80/kernel_args.cuh"

// The block's parts have numbers, from 0 on. The first warp publishes a part in a slot of shared
// memory. Loads begin with it later, and then the next one is taken; the slot is used again for the
// fourth part after it.
template <typename S>
class PartQueue {
 public:
  using Plan = SmemPlan<S>;

  // Counts in the memory of the first stage. threads: the block, converged
  __device__ __forceinline__ PartQueue(const Work& work, unsigned char* memory)
      : work_(work), memory_(memory), sequences_(work) {
    if (!has_own()) {
      take_next();
    }
    if (threadIdx.x < 32) {
      prefetch_lengths(work);
      parts_ = sequences_.count_parts(reinterpret_cast<int*>(memory + Plan::key(0))) *
               work.kv_heads * work.row_tiles;
      all_ = parts_ + items_of_all(work);
    }
  }

  // Takes the part after the last one published. Its number is there later: the counter takes long
  // to answer. threads: the block
  __device__ __forceinline__ void take() {
    is_wanted_ = true;
    if (uses_counter()) {
      take_next();
    }
  }

  // Publishes the part that was taken, if one was. sync: after a barrier, all threads may read it
  // threads: the block, converged
  __device__ __forceinline__ void publish() {
    if (!is_wanted_ || threadIdx.x >= 32) {
      return;
    }
    is_wanted_ = false;
    const int index = __shfl_sync(0xffffffffu, index_of_taken(), 0);
    Part part{};
    part.batch = -1;
    if (index < parts_) {
      part = part_at<S>(work_, sequences_, index);
    } else if (index < all_) {
      part = item_at<S>(work_, sequences_, index - parts_);
    }
    if (threadIdx.x == 0) {
      int4* const to = reinterpret_cast<int4*>(slot(published_));
      to[0] = {part.batch, part.head, part.row_tile, part.keys};
      to[1] = {part.step, part.end, part.parts, part.index};
      to[2] = {part.item, part.first, 0, 0};
    }
    ++published_;
  }

  // The part with this number among the block's.
  __device__ __forceinline__ Part part(int number) const { return read_part(slot(number)); }

 private:
  __device__ __forceinline__ unsigned char* slot(int number) const {
    return memory_ + Plan::kParts + 48 * (number % Plan::kSlots);
  }

  // Whether each block has a part of its own before it takes others. Blocks that wait for parts of
  // others may not own parts before they run: a block that cannot run would keep them waiting.
  __device__ __forceinline__ bool has_own() const { return work_.tile_items == 0; }
  __device__ __forceinline__ bool uses_counter() const {
    return !has_own() || all_ > static_cast<int>(gridDim.x);
  }

  __device__ __forceinline__ void take_next() {
    if (threadIdx.x == 0) {
      taken_ = count_one(work_.next_part);
    }
  }

  // The index of the part that was taken, among all. The block that takes the last one resets the
  // counter. Only the first thread's is right.
  __device__ __forceinline__ int index_of_taken() const {
    const int blocks = static_cast<int>(gridDim.x);
    if (has_own() && published_ == 0) {
      return static_cast<int>(blockIdx.x);
    }
    if (!uses_counter()) {
      return all_;
    }
    if (threadIdx.x == 0 && taken_ == (has_own() ? all_ - 1 : all_ + blocks - 1)) {
      *work_.next_part = 0;
    }
    return has_own() ? blocks + taken_ : taken_;
  }

  const Work& work_;
  unsigned char* const memory_;
  SequenceFinder<S> sequences_;
  int parts_ = 0;      // of the problem; the first warp knows it
  int all_ = 0;        // parts and items; the first warp knows it
  int taken_ = 0;      // what the counter said
  int published_ = 0;  // parts of this block
  bool is_wanted_ = true;
};

#endif
