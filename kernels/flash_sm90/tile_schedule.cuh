// Which tile is computed when, and which keys it sees.
#ifndef FATUNE_KERNELS_FLASH_SM90_TILE_SCHEDULE_CUH
#define FATUNE_KERNELS_FLASH_SM90_TILE_SCHEDULE_CUH

#include "flash_sm90/config.cuh"
#include "flash_sm90/kernel_args.cuh"

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

// Calls `compute` with each tile of this thread block's cluster.
template <typename S, typename Compute>
__device__ __forceinline__ void for_each_tile(const Work& work, unsigned rank,
                                              const Compute& compute) {
  if constexpr (S::kPersistent) {
#pragma unroll 1
    for (int index = static_cast<int>(blockIdx.x / S::kCluster); index < work.tiles;
         index += static_cast<int>(gridDim.x / S::kCluster)) {
      compute(tile_at<S>(work, index, rank));
    }
  } else {
    compute(tile_at<S>(work, static_cast<int>(blockIdx.x / S::kCluster), rank));
  }
}

#endif
