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

inline constexpr unsigned kItemBarrier = 3;

template <typename S, bool kTall = S::kTall>
struct ConsumerOf {
  using Type = ShortConsumer<S>;
};
template <typename S>
struct ConsumerOf<S, true> {
  using Type = TallConsumer<S>;
};

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
      const Part part = read_part(memory_ + Plan::kParts + 48 * slot_.index);
      if (part.batch >= 0 && part.item < 0) {
        compute(part, full);
      } else if (part.batch >= 0) {
        arrive(Plan::empty(full));
        add_item(part);
      }
      slot_.advance();
      if (work_.tile_items == 0) {
        add_up_rows_before();
      }
      if (part.batch < 0) {
        return;
      }
      before_ = part;
    }
  }

 private:
  // threads: of each warp, one
  __device__ __forceinline__ void arrive(unsigned barrier) const {
    if (threadIdx.x % 32 == 0) {
      mbarrier_arrive(barrier);
    }
  }

  __device__ __forceinline__ void compute(const Part& part, unsigned full) {
    Sums sums;
    consumer_.compute(part, slot_.index, sums);
    const unsigned empty = Plan::empty(full);
    if (part.parts == 1) {
      output_.store_rows(part, sums, smem_ + Plan::query(slot_.index));
      __syncwarp();
      arrive(empty);
    } else {
      arrive(empty);
      output_.store_sums(part, sums);
      __syncwarp();
    }
    arrive(smem_ + Plan::stored(slot_.index));
  }

  // Adds up all sums of the part before, if this block stored the last of its rows.
  __device__ __forceinline__ void add_up_rows_before() {
    if (before_.batch < 0) {
      return;
    }
    mbarrier_wait(smem_ + Plan::judged(verdict_.index), verdict_.parity);
    if (reinterpret_cast<const volatile int*>(memory_ + Plan::kVerdicts)[verdict_.index] != 0) {
      output_.add_parts(before_, 0, output_.kSquares);
    }
    verdict_.advance();
  }

  // Adds up an item of a tile's sums when all of its parts are stored. Who takes the tile's last
  // item resets its counter.
  __device__ __forceinline__ void add_item(const Part& part) const {
    if (part.parts == 1) {
      return;
    }
    int* const counter = counter_of(work_, part);
    if (threadIdx.x == 0) {
      while (ld_global_acquire(counter) < part.parts) {
      }
    }
    named_barrier_wait(kItemBarrier, S::kConsumers);
    if (threadIdx.x == 0 && atomicAdd(counter, 1) == part.parts + work_.tile_items - 1) {
      st_global_relaxed(counter, 0);
    }
    const int share = (output_.kSquares + work_.tile_items - 1) / work_.tile_items;
    const int first = part.item * share;
    output_.add_parts(part, first, min(share, output_.kSquares - first));
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
