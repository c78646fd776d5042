// Blocks of a cluster have neighbouring tiles of rows, and the same keys: each loads a share of
// every tile of keys for all of them, so that the L2 is read once.
#ifndef FATUNE_KERNELS_FLASH_DECODE_CLUSTER_CUH
#define FATUNE_KERNELS_FLASH_DECODE_CLUSTER_CUH

#include "common/ptx_barrier.cuh"
#include "common/ptx_memory.cuh"
#include "common/ptx_tma.cuh"
#include "flash_decode/config.cuh"
#include "flash_decode/kernel_args.cuh"

// This block's number in its cluster, a constant where there is none.
__device__ __forceinline__ int block_of_cluster() {
  return kCluster == 1 ? 0 : static_cast<int>(cluster_block_rank());
}

// As cluster_sync(), where there are clusters. threads: all of the block
__device__ __forceinline__ void sync_cluster() {
  if constexpr (kCluster > 1) {
    __syncwarp();
    cluster_sync();
  }
}

// Panels of a tile of K or V that a block loads.
struct PanelRange {
  const TensorMap* map;
  int first;
  int count;
};

// Starts the copy of a box to the same place in all blocks of the cluster.
template <L2Policy kPolicy>
__device__ __forceinline__ void load_for_cluster(unsigned to, const TensorMap* map, Coordinates5 at,
                                                 unsigned full) {
  if constexpr (kCluster == 1) {
    tma_load<kPolicy>(to, map, at, full);
  } else {
    tma_load_multicast(to, map, at, full, static_cast<unsigned short>((1 << kCluster) - 1));
  }
}

// Frees a buffer that every block of the cluster fills a share of. threads: one warp
__device__ __forceinline__ void free_for_cluster(unsigned empty, int lane) {
  if constexpr (kCluster == 1) {
    if (lane == 0) {
      mbarrier_arrive(empty);
    }
  } else if (lane < kCluster) {
    mbarrier_arrive_at(empty, lane);
  }
}

// What the first block of a cluster takes from the counter, for all of its blocks.
template <typename S>
class TakenForCluster {
 public:
  using Plan = SmemPlan<S>;

  // threads: one, before the cluster synchronises
  __device__ __forceinline__ static void initialise(unsigned smem) {
    mbarrier_init(smem + Plan::kTakenFull, 1);
    mbarrier_init(smem + Plan::kTakenEmpty, kCluster - 1);
  }

  // Returns what the first block took, in each block. taken: the first block's. threads: one
  __device__ __forceinline__ int share(int taken, unsigned smem) {
    if (block_of_cluster() == 0) {
      mbarrier_wait_for_cluster(smem + Plan::kTakenEmpty, parity_ ^ 1);
      for (int block = 1; block < kCluster; ++block) {
        st_cluster_4(cluster_address(smem + Plan::kTaken, block), static_cast<unsigned>(taken));
        mbarrier_release_cluster(cluster_address(smem + Plan::kTakenFull, block));
      }
    } else {
      mbarrier_wait_for_cluster(smem + Plan::kTakenFull, parity_);
      taken = static_cast<int>(ld_shared_4(smem + Plan::kTaken));
      mbarrier_release_cluster(cluster_address(smem + Plan::kTakenEmpty, 0));
    }
    parity_ ^= 1;
    return taken;
  }

 private:
  unsigned parity_ = 0;
};

#endif
