// Which tile is computed when, and which keys it sees.
#ifndef FATUNE_KERNELS_FLASH_SM90_TILE_SCHEDULE_CUH
#define FATUNE_KERNELS_FLASH_SM90_TILE_SCHEDULE_CUH

#include "common/ptx_barrier.cuh"
#include "common/ptx_memory.cuh"
#include "flash_sm90/config.cuh"
#include "flash_sm90/kernel_args.cuh"
#include "flash_sm90/smem_plan.cuh"

// A unit of rows of one head, which the blocks of a cluster share, and the tiles of keys that some
// row of it sees: from the last to the first. There is at least one.
struct Tile {
  int batch;
  int head;
  int first_row;  // of this thread block
  int last_step;
  int first_step;
};

// Tiles of a section of heads are neighbours: the same rows of all its heads, then the next. Under
// a causal mask the longest come first.
// shape: index in [0, work.tiles); rank: of this block in its cluster
template <typename S>
__device__ __forceinline__ Tile tile_at(const Work& work, int index, unsigned rank) {
  const int section_tiles = work.section_heads * work.row_units;
  const int section = index / section_tiles;
  const int within = index - section * section_tiles;
  const int first_head = section * work.section_heads;
  const int heads = min(work.section_heads, work.batch_heads - first_head);
  const int in_order = within / heads;
  const int batch_head = first_head + within - in_order * heads;
  const int unit = kCausal ? work.row_units - 1 - in_order : in_order;

  Tile tile;
  tile.batch = batch_head / work.heads;
  tile.head = batch_head - tile.batch * work.heads;
  const int unit_row = unit * (S::kCluster * S::kBlockM);
  tile.first_row = unit_row + static_cast<int>(rank) * S::kBlockM;
  const int position = unit_row + work.seq_len_kv - work.seq_len;  // of the first query
  const int seen = position + S::kCluster * S::kBlockM + kKeysAfter;
  const int keys = kCausal || kWindow > 0 ? min(seen, work.seq_len_kv) : work.seq_len_kv;
  tile.first_step = kWindow > 0 ? max(position - kWindow + 1, 0) / S::kBlockN : 0;
  tile.last_step = max((keys + S::kBlockN - 1) / S::kBlockN - 1, tile.first_step);
  return tile;
}

// Calls `use` with each tile that this block's cluster has from the start.
template <typename S, typename Use>
__device__ __forceinline__ void for_each_own_tile(const Work& work, unsigned rank, const Use& use) {
  const int first = static_cast<int>(blockIdx.x / S::kCluster);
  if constexpr (S::kPersistent) {
#pragma unroll 1
    for (int index = first; index < work.tiles;
         index += static_cast<int>(gridDim.x / S::kCluster)) {
      use(tile_at<S>(work, index, rank));
    }
  } else {
    use(tile_at<S>(work, first, rank));
  }
}

// Tiles on their way from the producer, which takes them from a counter, to the consumers.
template <typename S>
class TileQueue {
 public:
  using Plan = SmemPlan<S>;

  __device__ __forceinline__ explicit TileQueue(unsigned smem) : smem_(smem) {}

  // threads: one
  __device__ __forceinline__ void put(int index) {
    const unsigned full = smem_ + Plan::full_tile(slot_.index());
    mbarrier_wait(Plan::empty(full), slot_.parity() ^ 1);
    st_shared_4(smem_ + Plan::tile(slot_.index()), static_cast<unsigned>(index));
    mbarrier_arrive(full);
    slot_.advance();
  }

  // threads: whole warps, converged, each of which takes each
  __device__ __forceinline__ int take() {
    const unsigned full = smem_ + Plan::full_tile(slot_.index());
    mbarrier_wait(full, slot_.parity());
    // It is the same in all of a warp, which the compiler has to be told.
    const int index = __shfl_sync(
        0xffffffffu, static_cast<int>(ld_shared_4(smem_ + Plan::tile(slot_.index()))), 0);
    if (threadIdx.x % 32 == 0) {
      mbarrier_arrive(Plan::empty(full));
    }
    slot_.advance();
    return index;
  }

 private:
  const unsigned smem_;
  Ring<S::kTileSlots> slot_;
};

// The next tile of the counter, behind those that blocks begin with. There are as many counts as
// tiles, and the block with the last one leaves the counter as it was before the kernel.
// threads: one
__device__ __forceinline__ int count_tile(const Work& work) {
  const int count = atomicAdd(work.next_tile, 1);
  if (count == work.tiles - 1) {
    *work.next_tile = 0;
  }
  return static_cast<int>(gridDim.x) + count;
}

// Calls `load` with each tile that this block computes.
// threads: one, of the producer
template <typename S, typename Load>
__device__ __forceinline__ void produce_tiles(const Work& work, unsigned smem, unsigned rank,
                                              const Load& load) {
  if constexpr (S::kDynamic) {
    TileQueue<S> queue(smem);
    int index = static_cast<int>(blockIdx.x);
#pragma unroll 1
    while (index < work.tiles) {
      queue.put(index);
      const Tile tile = tile_at<S>(work, index, rank);
      index = count_tile(work);
      load(tile);
    }
    queue.put(index);
  } else {
    for_each_own_tile<S>(work, rank, load);
  }
}

// Calls `compute` with the same tiles.
// threads: all consumers
template <typename S, typename Compute>
__device__ __forceinline__ void consume_tiles(const Work& work, unsigned smem, unsigned rank,
                                              const Compute& compute) {
  if constexpr (S::kDynamic) {
    TileQueue<S> queue(smem);
#pragma unroll 1
    for (int index = queue.take(); index < work.tiles; index = queue.take()) {
      compute(tile_at<S>(work, index, rank));
    }
  } else {
    for_each_own_tile<S>(work, rank, compute);
  }
}

#endif
