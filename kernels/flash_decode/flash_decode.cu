// Attention forward for few queries against many keys, at the speed of the memory.
//
// A thread block has a producer, one warp that takes parts of the keys and issues all loads, and
// consumers, one to three warpgroups that compute. They synchronise by mbarriers: a tile is full
// when its bytes have arrived, and empty when the consumers' warps have finished with it.
#include "common/ptx_barrier.cuh"
#include "common/ptx_memory.cuh"
#include "common/ptx_tma.cuh"
#include "common/ptx_wgmma.cuh"
#include "flash_decode/cluster.cuh"
#include "flash_decode/config.cuh"
#include "flash_decode/consume.cuh"
#include "flash_decode/counter.cuh"
#include "flash_decode/debug_dump.cuh"
#include "flash_decode/kernel_args.cuh"
#include "flash_decode/merge.cuh"
#include "flash_decode/part_schedule.cuh"
#include "flash_decode/producer.cuh"
#include "flash_decode/query_loader.cuh"

// threads: one
template <typename S>
__device__ __forceinline__ void initialise_barriers(const Work& work, unsigned smem) {
  using Plan = SmemPlan<S>;
  for (int stage = 0; stage < S::kStages; ++stage) {
    for (const unsigned full : {smem + Plan::full_k(stage), smem + Plan::full_v(stage)}) {
      mbarrier_init(full, 1);
      mbarrier_init(Plan::empty(full), S::kTileWarps * kCluster);
    }
  }
  for (int slot = 0; slot < S::kSlots; ++slot) {
    mbarrier_init(smem + Plan::full_part(slot), work.box_rows == 0 ? QueryLoader<S>::kThreads : 1);
    mbarrier_init(Plan::empty(smem + Plan::full_part(slot)), S::kConsumerWarps + 1);
    mbarrier_init(smem + Plan::stored(slot), S::kConsumerWarps);
    mbarrier_init(smem + Plan::judged(slot), 1);
    mbarrier_init(smem + Plan::passed(slot), 1);
    mbarrier_init(smem + Plan::free_query(slot), S::kConsumerWarps);
  }
  if constexpr (S::kLatent) {
    for (int warp = 0; warp < S::kConsumerWarps; ++warp) {
      mbarrier_init(smem + Plan::full_handover(warp / 4, warp % 4), 32);  // all lanes arrive
    }
  }
  if constexpr (kCluster > 1) {
    TakenForCluster<S>::initialise(smem);
  }
  if constexpr (kCanMerge) {
    Merging<S>::initialise(smem);
  }
  fence_mbarrier_init();
}

// Zeros in the rows of Q that no load fills. threads: the consumer
template <typename S>
__device__ __forceinline__ void clear_unused_rows(unsigned smem, int rows) {
  using Plan = SmemPlan<S>;
#pragma unroll 1
  for (int panel = 0; panel < S::kQueryTiles * S::kPanels; ++panel) {
#pragma unroll 1
    for (int at = rows * 8 + static_cast<int>(threadIdx.x); at < S::kRows * 8;
         at += S::kConsumers) {
      st_shared_16(smem + Plan::kQ + panel * Plan::kPanelBytesQ + 16 * at, make_uint4(0, 0, 0, 0));
    }
  }
  fence_async_proxy();
}

// All warps but the producer wait here until the mbarriers are initialised and the rows of Q that
// no load fills are zeros.
inline constexpr unsigned kStartBarrier = 0;

// The kernel: what one block does.
template <typename S>
__device__ __forceinline__ void decode_parts(const TensorMap& map_q, const TensorMap& map_k,
                                             const TensorMap& map_v, const Work& work) {
  using Plan = SmemPlan<S>;
  extern __shared__ __align__(1024) unsigned char memory[];
  const unsigned smem = warp_uniform(shared_address(memory)) & kAligned1024;
  const int warp = warp_uniform(static_cast<int>(threadIdx.x) / 32);
  Producer<S> producer(work, &map_q, &map_k, &map_v, memory, smem);
  int taken = 0;
  if (warp == S::kConsumerWarps) {
    taken = producer.begin();
  } else {
    if (warp == S::kConsumerWarps + 1) {
      if (threadIdx.x % 32 == 0) {
        initialise_barriers<S>(work, smem);
      }
      __syncwarp();
      named_barrier_arrive(kInitialisedBarrier, 64);
    } else if (warp < S::kConsumerWarps && work.box_rows > 0) {
      clear_unused_rows<S>(smem, work.box_rows);
    }
    named_barrier_wait(kStartBarrier, S::kThreads - 32);
  }
  sync_cluster();
  if (merges_sums(work)) {
    __syncwarp();
    cluster_arrive();
    if (warp != S::kConsumerWarps) {  // the producer loads keys first
      cluster_wait();
    }
  }

  if (warp >= S::kConsumerWarps) {
    if constexpr (S::kGivesRegisters) {
      registers_give<S::kProducerRegisters>();
    }
    if (warp == S::kConsumerWarps) {
      producer.run(taken);
    } else if (warp == S::kConsumerWarps + 1) {
      if (threadIdx.x % 32 == 0) {
        count_parts<S>(work, memory, smem);
      }
    } else if (S::kTall && work.box_rows == 0) {
      QueryLoader<S>(work, memory, smem, static_cast<int>(threadIdx.x) - S::kConsumers - 64).run();
    }
  } else {
    if constexpr (S::kGivesRegisters) {
      registers_take<S::kConsumerRegisters>();
    }
    Consuming<S>(work, memory, smem).run();
  }
  sync_cluster();  // other blocks may still write to this one's shared memory
}

#ifdef FATUNE_ROWS
using Config = Shape<FlashDecodeConfig{FATUNE_DTYPE, FATUNE_D_HEAD, FATUNE_ROWS, FATUNE_STEP_KEYS,
                                       FATUNE_NUM_STAGES, FATUNE_BLOCKS_PER_SM}>;

// O = softmax(softmax_scale * Q K^T [causal, window]) V, and the log-sum-exp if it is wanted.
// shape:   grid: what the device holds, or as many blocks as there are parts;
//          block: Config::kThreads threads
extern "C" __global__ void __launch_bounds__(Config::kThreads, FATUNE_BLOCKS_PER_SM)
    flash_decode_kernel(const __grid_constant__ TensorMap map_q,
                        const __grid_constant__ TensorMap map_k,
                        const __grid_constant__ TensorMap map_v,
                        const __grid_constant__ Work work FATUNE_DUMP_PARAMETER) {
  decode_parts<Config>(map_q, map_k, map_v, FATUNE_DUMPED(work));
}
#endif
