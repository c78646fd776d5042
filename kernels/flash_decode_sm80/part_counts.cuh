// Counts the stored parts of each tile of rows, so that sums are added up when all are there.
#ifndef FATUNE_KERNELS_FLASH_DECODE_SM80_PART_COUNTS_CUH
#define FATUNE_KERNELS_FLASH_DECODE_SM80_PART_COUNTS_CUH

#include "common/ptx_memory.cuh"
#include "flash_decode/part_schedule.cuh"
#include "flash_decode_sm80/kernel_args.cuh"

// Counters are 0 again when the last part of a tile, or with shared sums the last item, has been
// added up.
class PartCounts {
 public:
  // verdict: in shared memory, of the part that was counted last
  __device__ __forceinline__ PartCounts(const Work& work, int* verdict)
      : work_(work), verdict_(verdict) {}

  // Counts a part whose sums all threads of the block stored before a barrier. What it returns is
  // for judge(), later: the counter takes long to answer.
  // threads: the first
  __device__ __forceinline__ int count(const Part& part) const {
    __threadfence();
    return count_one(counter_of(work_, part), work_.tile_items > 0 ? kNoLast : part.parts - 1);
  }

  // Tells the block whether the part was the last of its rows; with shared sums, nobody asks.
  // threads: the first; sync: after a barrier, all threads may read it
  __device__ __forceinline__ void judge(const Part& part, int counted) const {
    if (work_.tile_items > 0) {
      return;
    }
    __threadfence();
    *verdict_ = counted == part.parts - 1 ? 1 : 0;
  }

  // Whether the block has to add up the sums of the part that was counted last.
  __device__ __forceinline__ bool was_last() const {
    return work_.tile_items == 0 && *static_cast<volatile int*>(verdict_) != 0;
  }

  // Waits until all parts of the item's tile are stored. Who takes the last item resets the tile's
  // counter. threads: the block; sync: out: sums may be read
  __device__ __forceinline__ void await_all(const Part& part) const {
    int* const counter = counter_of(work_, part);
    if (threadIdx.x == 0) {
      while (ld_global_acquire(counter) < part.parts) {
      }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      count_one(counter, part.parts + work_.tile_items - 1);
    }
  }

 private:
  const Work& work_;
  int* const verdict_;
};

#endif
