// Attention forward for Hopper: TMA brings tiles into shared memory, wgmma multiplies them.
//
// A thread block has one producer, a single thread that issues all loads, and one to three
// consumers, warpgroups that compute 64 rows each. They synchronise by mbarriers: a buffer is full
// when its bytes have arrived, and empty when every warp of every consumer has finished with it.
//
// For packed batches (packed_tiles.cuh), lengths of keys that differ, and pages, the producer is
// one or two warps.
//
//   producer   | K[n] Q   | K[n-1] V[n]       | K[n-2] V[n-1]     | ...
//   consumer   |          | S[n] softmax      | S[n-1] under O += P V[n], softmax | ...
#include "common/ptx_barrier.cuh"
#include "common/ptx_memory.cuh"
#include "common/ptx_tma.cuh"
#include "common/ptx_wgmma.cuh"
#include "flash_sm90/config.cuh"
#include "flash_sm90/consumer.cuh"
#include "flash_sm90/debug_dump.cuh"
#include "flash_sm90/kernel_args.cuh"
#include "flash_sm90/packed_tiles.cuh"
#include "flash_sm90/producer.cuh"
#include "flash_sm90/smem_plan.cuh"
#include "flash_sm90/tile_schedule.cuh"
#include "flash_sm90/transposed_values.cuh"
#include "flash_sm90/values_end.cuh"

// threads: one
template <typename S>
__device__ __forceinline__ void initialise_barriers(unsigned smem) {
  using Plan = SmemPlan<S>;
  constexpr unsigned kWarps = 4 * S::kGroups * S::kCluster;  // readers of a buffer of K or V
  // Of a tile's index: the warp for V, or the producers of the cluster's other blocks.
  constexpr unsigned kOtherReaders = S::kHandsOnWarps > 0 ? S::kHandsOnWarps
                                     : S::kDynamic        ? S::kCluster - 1
                                                          : 0;
  for (unsigned slot = 0; slot < Plan::kSlotsQ; ++slot) {
    const unsigned full = smem + Plan::kBarriers + 16 * slot;
    mbarrier_init(full, 1);
    mbarrier_init(Plan::empty(full), 1);
  }
  for (int stage = 0; stage < S::kStages; ++stage) {
    for (const unsigned full : {smem + Plan::full_k(stage), smem + Plan::read_v(stage)}) {
      mbarrier_init(full, kEightBits && full != smem + Plan::full_k(stage) ? S::kHandsOnWarps : 1);
      mbarrier_init(Plan::empty(full), kWarps);
    }
    if constexpr (kEightBits) {
      mbarrier_init(smem + Plan::full_v(stage), 1);
      mbarrier_init(smem + Plan::empty(Plan::full_v(stage)), S::kHandsOnWarps);
    }
  }
  for (int slot = 0; slot < S::kTileSlots; ++slot) {
    const unsigned full = smem + Plan::full_tile(slot);
    mbarrier_init(full, 1);
    mbarrier_init(Plan::empty(full), kWarps + kOtherReaders);
  }
  for (int stage = 0; kClearsValues && !kEightBits && stage < S::kStages; ++stage) {
    mbarrier_init(smem + Plan::ready_v(stage), 1);
  }
  fence_mbarrier_init();
}

// sync: all threads of the cluster
template <typename S>
__device__ __forceinline__ void sync_cluster() {
  if constexpr (S::kCluster > 1) {
    cluster_sync();
  } else {
    __syncthreads();
  }
}

// The work of the producer's warps where it has more than one thread: one finds tiles and loads
// them, the next one hands V on if rows are to be cleared, and the others have none. V of 8 bits is
// handed on, transposed, by all three. threads: the producer's warpgroup; thread: index in it
template <typename S>
__device__ __forceinline__ void produce_in_warps(const Work& work, const TensorMap* map_q,
                                                 const TensorMap* map_k, const TensorMap* map_v,
                                                 unsigned smem, int thread) {
  // Warp-uniform; the shuffle tells the compiler so.
  const int warp = __shfl_sync(0xffffffffu, thread / 32, 0);
  if (warp == 0) {
    if (thread == 0) {
      prefetch_tensor_map(map_q);
      prefetch_tensor_map(map_k);
      prefetch_tensor_map(map_v);
    }
    __syncwarp();
    Producer<S> producer(work, map_q, map_k, map_v, smem, 0);
    if constexpr (kPaged && kPacked) {
      produce_packed_tiles<S>(work, smem, [&](const Tile& tile) { producer.load_tile(tile); });
    } else if constexpr (kPaged) {
      produce_tiles<S>(work, smem, 0, [&](const Tile& tile) { producer.load_tile(tile); });
    } else if constexpr (kPacked) {
      produce_packed_tiles<S>(work, smem, [&](const Tile& tile) {
        if (thread == 0) {
          producer.load_tile(tile);
        }
      });
    } else if (thread == 0) {
      produce_tiles<S>(work, smem, 0, [&](const Tile& tile) { producer.load_tile(tile); });
    }
  } else if (kEightBits) {
    hand_on_transposed_values<S>(work, smem, warp - 1);
  } else if (kClearsValues && warp == 1) {
    hand_on_values<S>(work, smem);
  }
}

// O = softmax(softmax_scale * Q K^T [causal, window]) V, and the log-sum-exp if it is wanted.
// shape:   grid (cluster * tiles, or what the device holds of it), block 128 * (NUM_MMA_GROUPS + 1)
template <HopperForwardConfig kConfig>
__global__ void __launch_bounds__(Shape<kConfig>::kThreads, 1)
    flash_forward_kernel(const __grid_constant__ TensorMap map_q,
                         const __grid_constant__ TensorMap map_k,
                         const __grid_constant__ TensorMap map_v,
                         const __grid_constant__ TensorMap map_o,
                         const __grid_constant__ Work work FATUNE_DUMP_PARAMETER) {
  using S = Shape<kConfig>;
  extern __shared__ __align__(1024) unsigned char memory[];
  const unsigned smem = shared_address(memory);
  const int thread = static_cast<int>(threadIdx.x);
  const unsigned rank = S::kCluster > 1 ? cluster_block_rank() : 0;
  // Warp-uniform; the shuffle tells the compiler so.
  const int warpgroup = __shfl_sync(0xffffffffu, thread / S::kGroupThreads, 0);
  if (thread == 0) {
    initialise_barriers<S>(smem);
  }
  sync_cluster<S>();

  if (warpgroup == 0) {
    registers_give<S::kProducerRegisters>();
    if constexpr (kProducesInWarps) {
      produce_in_warps<S>(work, &map_q, &map_k, &map_v, smem, thread);
    } else if (thread == 0) {
      prefetch_tensor_map(&map_q);
      prefetch_tensor_map(&map_k);
      prefetch_tensor_map(&map_v);
      Producer<S> producer(work, &map_q, &map_k, &map_v, smem, rank);
      produce_tiles<S>(work, smem, rank, [&](const Tile& tile) { producer.load_tile(tile); });
    }
  } else {
    registers_take<S::kConsumerRegisters>();
    Consumer<S> consumer(work, &map_o, FATUNE_DUMP_TO, smem, warpgroup - 1,
                         thread % S::kGroupThreads);
    const auto compute = [&](const Tile& tile) { consumer.compute_tile(tile); };
    if constexpr (kPacked) {
      consume_packed_tiles<S>(smem, compute);
    } else {
      consume_tiles<S>(work, smem, rank, compute);
    }
    consumer.wait_for_stores();
  }
  if constexpr (S::kCluster > 1) {
    cluster_sync();  // others may still arrive at this block's barriers
  }
}
