// Attention forward for few queries against many keys, at the speed of the memory.
//
// A thread block has a producer, one warp that takes parts of the keys and issues all loads, and a
// consumer, a warpgroup that computes. They synchronise by mbarriers: a stage is full when its
// bytes have arrived, and empty when the consumer's warps have finished with it.
#include "common/ptx_barrier.cuh"
#include "common/ptx_memory.cuh"
#include "common/ptx_tma.cuh"
#include "flash_decode/config.cuh"
#include "flash_decode/consumer.cuh"
#include "flash_decode/counter.cuh"
#include "flash_decode/kernel_args.cuh"
#include "flash_decode/output.cuh"
#include "flash_decode/part_schedule.cuh"
#include "flash_decode/producer.cuh"

// threads: one
template <typename S>
__device__ __forceinline__ void initialise_barriers(unsigned smem) {
  using Plan = SmemPlan<S>;
  for (int stage = 0; stage < S::kStages; ++stage) {
    mbarrier_init(smem + Plan::full(stage), 1);
    mbarrier_init(Plan::empty(smem + Plan::full(stage)), 4);
  }
  for (int slot = 0; slot < S::kSlots; ++slot) {
    mbarrier_init(smem + Plan::full_part(slot), 1);
    mbarrier_init(Plan::empty(smem + Plan::full_part(slot)), 5);
    mbarrier_init(smem + Plan::stored(slot), 4);
    mbarrier_init(smem + Plan::judged(slot), 1);
  }
  fence_mbarrier_init();
}

// Zeros in the rows of Q that no load fills. threads: the consumer
template <typename S>
__device__ __forceinline__ void clear_unused_rows(unsigned smem, int rows) {
  using Plan = SmemPlan<S>;
  for (int panel = 0; panel < S::kSlots * S::kPanels; ++panel) {
    for (int at = rows * 8 + static_cast<int>(threadIdx.x); at < S::kRows * 8;
         at += S::kConsumers) {
      st_shared_16(smem + Plan::kQ + panel * Plan::kPanelBytesQ + 16 * at, make_uint4(0, 0, 0, 0));
    }
  }
  fence_async_proxy();
}

// The kernel: what one block does.
template <typename S>
__device__ __forceinline__ void decode_parts(const TensorMap& map_q, const TensorMap& map_k,
                                             const TensorMap& map_v, const Work& work) {
  using Plan = SmemPlan<S>;
  extern __shared__ __align__(1024) unsigned char memory[];
  const unsigned smem = shared_address(memory);
  // Warp-uniform; the shuffle tells the compiler so.
  const int warp = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 32, 0);
  if (threadIdx.x == S::kConsumers) {
    prefetch_tensor_map(&map_q);
    prefetch_tensor_map(&map_k);
    prefetch_tensor_map(&map_v);
    initialise_barriers<S>(smem);
  }
  if (warp < 4) {
    clear_unused_rows<S>(smem, work.tile_queries * work.group);
  }
  __syncthreads();

  if (warp == 4) {
    Producer<S>(work, &map_q, &map_k, &map_v, memory, smem).run();
    return;
  }
  if (warp == 5) {
    if (threadIdx.x % 32 == 0) {
      count_parts<S>(work, memory, smem);
    }
    return;
  }
  Consumer<S> consumer(work, memory, smem);
  const Output<S> output(work);
  const bool is_first = threadIdx.x % 32 == 0;
  Ring<S::kSlots> slot;
  Ring<S::kSlots> before;  // the slot of the part before
  Part judged;
  judged.batch = -1;
  // Adds up the parts of the rows before, if this block stored the last one of them.
  const auto unite_rows_before = [&] {
    if (judged.batch < 0) {
      return;
    }
    mbarrier_wait(smem + Plan::judged(before.index), before.parity);
    if (reinterpret_cast<const volatile int*>(memory + Plan::kVerdicts)[before.index] != 0) {
      output.unite_parts(judged);
    }
    before.advance();
  };
#pragma unroll 1
  for (;;) {
    const unsigned full = smem + Plan::full_part(slot.index);
    mbarrier_wait(full, slot.parity);
    const Part part = read_part(memory + Plan::kParts + 48 * slot.index);
    const bool is_there = part.batch >= 0;
    if (is_there) {
      Sums<S> sums;
      consumer.compute(part, slot.index, sums);
      if (is_first) {
        mbarrier_arrive(Plan::empty(full));
      }
      output.store(part, consumer, sums);
      __syncwarp();
      if (is_first) {
        mbarrier_arrive(smem + Plan::stored(slot.index));
      }
      slot.advance();
    }
    unite_rows_before();
    if (!is_there) {
      break;
    }
    judged = part;
  }
}

#ifdef FATUNE_ROWS
using Config = Shape<FlashDecodeConfig{FATUNE_DTYPE, FATUNE_D_HEAD, FATUNE_ROWS, FATUNE_STEP_KEYS,
                                       FATUNE_NUM_STAGES, FATUNE_BLOCKS_PER_SM}>;

// O = softmax(softmax_scale * Q K^T [causal, window]) V, and the log-sum-exp if it is wanted.
// shape:   grid: what the device holds, or as many blocks as there are parts; block 192
extern "C" __global__ void __launch_bounds__(Config::kThreads, FATUNE_BLOCKS_PER_SM)
    flash_decode_kernel(const __grid_constant__ TensorMap map_q,
                        const __grid_constant__ TensorMap map_k,
                        const __grid_constant__ TensorMap map_v,
                        const __grid_constant__ Work work) {
  decode_parts<Config>(map_q, map_k, map_v, work);
}
#endif
