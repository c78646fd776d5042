// Which tile is computed when, and which keys it sees.
#ifndef FATUNE_KERNELS_FLASH_SM90_TILE_SCHEDULE_CUH
#define FATUNE_KERNELS_FLASH_SM90_TILE_SCHEDULE_CUH

#include "common/ptx_barrier.cuh"
#include "common/ptx_memory.cuh"
#include "flash_sm90/config.cuh"
#include "flash_sm90/kernel_args.cuh"
#include "flash_sm90/smem_plan.cuh"

// How many rows a sequence has, and the first of them in the tensors.
struct Sequence {
  int first_query;
  int first_key;  // of K and V in pages: the sequence's number
  int seq_len;
  int seq_len_kv;
  int number;  // in the batch; not set unless the batch is packed
};

// A unit of queries of one head (with pack_gqa, of one group of heads), shared by the blocks of a
// cluster, and the steps (tiles of keys) that they need, visited from the last to the first. There
// is at least one step.
struct Tile {
  int batch;
  int head;       // of the query or, with pack_gqa, the group's number
  int first_row;  // first query of the first consumer, counted from the sequence's first
  int last_step;
  int first_step;
  int split = -1;  // number of the split tile if other blocks compute some of its steps; else -1
#if FATUNE_PACKED || FATUNE_KEY_LENGTHS
  Sequence sequence;
#endif
};

// Returns the tile's sequence. Unless the batch is packed, it has all rows of its batch, or those
// keys of them that its length says.
__device__ __forceinline__ Sequence sequence_of(const Work& work, const Tile& tile) {
#if FATUNE_PACKED || FATUNE_KEY_LENGTHS
  return tile.sequence;
#else
  return {0, 0, work.seq_len, work.seq_len_kv};
#endif
}

// Returns the table of the pages of a tile's sequence. Precondition: K and V are pools of pages.
__device__ __forceinline__ const int* pages_of(const Work& work, const Tile& tile) {
#if FATUNE_PAGE_SIZE > 0
  const int sequence = kPacked ? sequence_of(work, tile).first_key : tile.batch;
  return work.page_table + static_cast<long long>(sequence) * work.pages_of_sequence;
#else
  return nullptr;
#endif
}

// Whether this thread does what one thread of the producer's warp does. With pages, all lanes of
// the warp load; else there is no other thread.
__device__ __forceinline__ bool leads_warp() { return !kPaged || threadIdx.x % 32 == 0; }

// Sets the steps that the queries of a unit need.
// shape: unit_row: the unit's first query; of: has the sequence's seq_len and seq_len_kv
template <typename S, typename Lengths>
__device__ __forceinline__ void set_steps(Tile& tile, int unit_row, const Lengths& of) {
  const int position = unit_row + of.seq_len_kv - of.seq_len;  // first query's
  const int seen = position + S::kCluster * S::kBlockQueries + kKeysAfter;
  const int keys = kCausal || kWindow > 0 ? min(seen, of.seq_len_kv) : of.seq_len_kv;
  tile.first_step = kWindow > 0 ? max(position - kWindow + 1, 0) / S::kBlockN : 0;
  tile.last_step = max((keys + S::kBlockN - 1) / S::kBlockN - 1, tile.first_step);
}

// Returns how many queries before a sequence's first the first unit of its queries begins: those of
// the consumers that have none, under a causal mask.
template <typename S>
__device__ __forceinline__ int queries_before_first(const Work& work) {
  if constexpr (kIdleConsumers && kCausal) {
    const int left = work.row_units * (S::kCluster * S::kBlockQueries) - work.seq_len;
    return left / S::kGroupQueries * S::kGroupQueries;
  }
  return 0;
}

// Consecutive tiles stay within a section of heads: the same rows of each of its heads, then the
// next rows. Under a causal mask the longest tiles come first.
// shape: index in [0, work.tiles); rank: this block's rank in its cluster
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
  const int unit_row = unit * (S::kCluster * S::kBlockQueries) - queries_before_first<S>(work);
  tile.first_row = unit_row + static_cast<int>(rank) * S::kQueriesToBlock;
#if FATUNE_KEY_LENGTHS
  tile.sequence = {0, 0, work.seq_len, work.seq_lens_kv[tile.batch]};
  set_steps<S>(tile, unit_row, tile.sequence);
#else
  set_steps<S>(tile, unit_row, work);
#endif
  return tile;
}

// The steps of all split tiles, in the order of the tiles, are divided evenly among the blocks. A
// block's share is contiguous: steps of one tile, or of neighbouring tiles.

// threads: any. Returns the first step of the block's share
__device__ __forceinline__ int share_begin(const Work& work, int block) {
  return block * (work.split_tiles * work.tile_steps) / static_cast<int>(gridDim.x);
}

// Returns the block whose share has the step, counted over all split tiles.
__device__ __forceinline__ int share_owner(const Work& work, int step) {
  return ((step + 1) * static_cast<int>(gridDim.x) - 1) / (work.split_tiles * work.tile_steps);
}

// Restricts a split tile to this block's share of its steps. The share starts at `step`, counted
// over all split tiles. Steps that no row of the tile sees are masked; at least one step remains.
// Returns the step that follows the share's part of this tile.
__device__ __forceinline__ int take_part(const Work& work, Tile& tile, int index, int step) {
  const int begin = index * work.tile_steps;
  const int end = min(share_begin(work, static_cast<int>(blockIdx.x) + 1), begin + work.tile_steps);
  if (end - step < work.tile_steps) {
    tile.split = index;
    tile.first_step = step - begin;
    tile.last_step = max(min(end - begin - 1, tile.last_step), tile.first_step);
  }
  return end;
}

// Passes tiles from the producer, which takes them from a counter, to the consumers. In a cluster
// the first block's producer passes them to the consumers of all blocks and to the other producers.
template <typename S>
class TileQueue {
 public:
  using Plan = SmemPlan<S>;

  __device__ __forceinline__ explicit TileQueue(unsigned smem) : smem_(smem) {}

  // threads: one, of the cluster's first block
  __device__ __forceinline__ void put(int index) {
    const unsigned full = smem_ + Plan::full_tile(slot_.index());
    mbarrier_wait(Plan::empty(full), slot_.parity() ^ 1);
    const unsigned to = smem_ + Plan::tile(slot_.index());
    if constexpr (S::kCluster == 1) {
      st_shared_4(to, static_cast<unsigned>(index));
      mbarrier_arrive(full);
    } else {
#pragma unroll
      for (unsigned rank = 0; rank < S::kCluster; ++rank) {
        st_cluster_4(cluster_address(to, rank), static_cast<unsigned>(index));
        mbarrier_release_cluster(cluster_address(full, rank));
      }
    }
    slot_.advance();
  }

  // threads: whole converged warps, each of which takes every tile; if kAlone, one thread
  template <bool kAlone>
  __device__ __forceinline__ int take() {
    const unsigned full = smem_ + Plan::full_tile(slot_.index());
    await(full);
    // The lane that frees the slot reads it, and hands on what it has read once all lanes are here.
    const bool leads = kAlone || threadIdx.x % 32 == 0;
    int index = leads ? static_cast<int>(ld_shared_4(smem_ + Plan::tile(slot_.index()))) : 0;
    if constexpr (!kAlone) {
      index = __shfl_sync(0xffffffffu, index, 0);
    }
    if (leads) {
      release(full);
    }
    slot_.advance();
    return index;
  }

 private:
  __device__ __forceinline__ void await(unsigned full) const {
    if constexpr (S::kCluster == 1) {
      mbarrier_wait(full, slot_.parity());
    } else {
      mbarrier_wait_for_cluster(full, slot_.parity());
    }
  }

  // Tells the producer that put the tile.
  __device__ __forceinline__ void release(unsigned full) const {
    if constexpr (S::kCluster == 1) {
      mbarrier_arrive(Plan::empty(full));
    } else {
      mbarrier_arrive_at(Plan::empty(full), 0);
    }
  }

  const unsigned smem_;
  Ring<S::kTileSlots> slot_;
};

// Returns the first whole (unsplit) tile of a block, or of a cluster.
template <typename S>
__device__ __forceinline__ int first_whole_tile(const Work& work) {
  return (S::kSplitTail ? work.split_tiles : 0) + static_cast<int>(blockIdx.x / S::kCluster);
}

// Sources of a block's whole tiles. Call index(), then advance(), once per tile. The last index()
// is >= work.tiles and has no advance().

// Static schedule: the tiles follow from the block's number.
// threads: any
template <typename S>
class OwnTiles {
 public:
  __device__ __forceinline__ explicit OwnTiles(const Work& work)
      : index_(first_whole_tile<S>(work)) {}

  __device__ __forceinline__ int index() const { return index_; }
  __device__ __forceinline__ void advance() { index_ += static_cast<int>(gridDim.x / S::kCluster); }

 private:
  int index_;
};

// Dynamic schedule, for the producer: takes tiles from the counter and hands them on. Each block,
// or cluster, starts with a tile of its own. The counter is incremented once per whole tile; the
// last to increment it resets it to 0. threads: one, of the cluster's first block, or with pages
// one warp, converged
template <typename S>
class CountedTiles {
 public:
  __device__ __forceinline__ CountedTiles(const Work& work, unsigned smem)
      : work_(work), queue_(smem), index_(first_whole_tile<S>(work)) {}

  __device__ __forceinline__ int index() {
    if (leads_warp()) {
      queue_.put(index_);
    }
    return index_;
  }
  __device__ __forceinline__ void advance() {
    const int first = S::kSplitTail ? work_.split_tiles : 0;
    int count = 0;
    if (leads_warp()) {
      count = atomicAdd(work_.next_tile, 1);
      if (count == work_.tiles - first - 1) {
        *work_.next_tile = 0;
      }
    }
    if constexpr (kPaged) {
      count = __shfl_sync(0xffffffffu, count, 0);
    }
    index_ = first + static_cast<int>(gridDim.x / S::kCluster) + count;
  }

 private:
  const Work& work_;
  TileQueue<S> queue_;
  int index_;
};

// Dynamic schedule: the tiles that the producer hands on to the consumers and, in a cluster, to the
// other producers.
// threads: as consume_tiles, or if kAlone as produce_tiles
template <typename S, bool kAlone>
class QueuedTiles {
 public:
  __device__ __forceinline__ explicit QueuedTiles(unsigned smem) : queue_(smem) {}

  __device__ __forceinline__ int index() { return queue_.template take<kAlone>(); }
  __device__ __forceinline__ void advance() {}

 private:
  TileQueue<S> queue_;
};

// Calls `use` with this block's parts of split tiles, then with its whole tiles.
template <typename S, typename WholeTiles, typename Use>
__device__ __forceinline__ void for_each_tile(const Work& work, unsigned rank, WholeTiles whole,
                                              const Use& use) {
  const int block = static_cast<int>(blockIdx.x);
  int step = S::kSplitTail ? share_begin(work, block) : 0;
#pragma unroll 1
  for (;;) {
    const bool is_split = S::kSplitTail && step < share_begin(work, block + 1);
    const int index = is_split ? step / work.tile_steps : whole.index();
    if (index >= work.tiles) {
      break;
    }
    Tile tile = tile_at<S>(work, index, rank);
    if (is_split) {
      step = take_part(work, tile, index, step);
    } else {
      whole.advance();
    }
    use(tile);
  }
}

// Calls `load` with each tile that this block computes.
// threads: one thread of the producer, or with pages one warp, converged
template <typename S, typename Load>
__device__ __forceinline__ void produce_tiles(const Work& work, unsigned smem, unsigned rank,
                                              const Load& load) {
  if constexpr (S::kDynamic) {
    if (S::kCluster == 1 || rank == 0) {
      for_each_tile<S>(work, rank, CountedTiles<S>(work, smem), load);
    } else {
      for_each_tile<S>(work, rank, QueuedTiles<S, true>(smem), load);
    }
  } else if constexpr (S::kPersistent) {
    for_each_tile<S>(work, rank, OwnTiles<S>(work), load);
  } else {
    load(tile_at<S>(work, first_whole_tile<S>(work), rank));
  }
}

// Calls `compute` with the same tiles.
// threads: all consumers, and the warp that clears rows of V (values_end.cuh)
template <typename S, typename Compute>
__device__ __forceinline__ void consume_tiles(const Work& work, unsigned smem, unsigned rank,
                                              const Compute& compute) {
  if constexpr (S::kDynamic) {
    for_each_tile<S>(work, rank, QueuedTiles<S, false>(smem), compute);
  } else if constexpr (S::kPersistent) {
    for_each_tile<S>(work, rank, OwnTiles<S>(work), compute);
  } else {
    compute(tile_at<S>(work, first_whole_tile<S>(work), rank));
  }
}

#endif
