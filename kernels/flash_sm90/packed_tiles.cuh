// Packed batches: which tile is computed when, and where its sequence's rows are. FATUNE_PACKED
// says whether the batch is packed; unless it is, nothing here is used.
//
// One warp of the producer finds the tiles and loads them, and hands them on through a queue.
#ifndef FATUNE_KERNELS_FLASH_SM90_PACKED_TILES_CUH
#define FATUNE_KERNELS_FLASH_SM90_PACKED_TILES_CUH

#include "common/packed_units.cuh"
#include "common/ptx_barrier.cuh"
#include "common/ptx_memory.cuh"
#include "common/ptx_tma.cuh"
#include "flash_sm90/config.cuh"
#include "flash_sm90/kernel_args.cuh"
#include "flash_sm90/smem_plan.cuh"
#include "flash_sm90/tile_schedule.cuh"

// A cursor over the tiles of a packed batch: for each unit of a block's queries the heads, which
// share keys in the L2. The longest come first, as PackedUnits says, and under a causal mask the
// last rows of a sequence. threads: one warp, converged, in every function
template <typename S, typename Args>
class PackedTiles {
 public:
  // args: cu_seqlens_q, cu_seqlens_kv, batch, heads
  __device__ __forceinline__ explicit PackedTiles(const Args& args) : args_(args), units_(args) {}

  // Finds the tile of an index, which must be no less than the one before. Returns whether there is
  // such a tile.
  template <typename Found>
  __device__ __forceinline__ bool find(int index, Found& tile) {
    const int number = index / args_.heads;
    PackedSequence of;
    int after;
    if (!units_.find(number, of, after)) {
      return false;
    }
    tile.batch = 0;
    tile.head = index - number * args_.heads;
    tile.sequence = {of.first_query, kPaged ? of.number : of.first_key, of.seq_len, of.seq_len_kv,
                     of.number};
    const int unit = kCausal ? after : Units::units_of(of.seq_len) - 1 - after;
    tile.first_row = unit * S::kBlockQueries;
    set_steps<S>(tile, tile.first_row, tile.sequence);
    return true;
  }

  // Returns the number of all tiles, after find() has returned false.
  __device__ __forceinline__ int count() const { return units_.count() * args_.heads; }

 private:
  enum Extent : int { kMostKeys = kWindow > 0 ? kWindow + S::kBlockQueries + kKeysAfter : 1 << 30 };
  using Units = PackedUnits<S::kBlockQueries, kMostKeys, Args>;

  const Args& args_;
  Units units_;
};

// Passes tiles of a packed batch from the producer to the consumers. A slot has eight words. With
// scales of blocks, consumers need their sequence's number; no consumer needs its first key, whose
// word it takes.
template <typename S>
class PackedQueue {
 public:
  using Plan = SmemPlan<S>;

  __device__ __forceinline__ explicit PackedQueue(unsigned smem) : smem_(smem) {}

  // Puts a tile or, unless `exists`, the end of all tiles.
  // threads: one
  template <typename Found>
  __device__ __forceinline__ void put(const Found& tile, bool exists) {
    const unsigned full = smem_ + Plan::full_tile(slot_.index());
    const unsigned to = smem_ + Plan::tile(slot_.index());
    mbarrier_wait(Plan::empty(full), slot_.parity() ^ 1);
    st_shared_16(to, make_uint4(tile.sequence.first_query,
                                kPassesNumber ? tile.sequence.number : tile.sequence.first_key,
                                tile.sequence.seq_len, tile.sequence.seq_len_kv));
    st_shared_16(to + 16, make_uint4(exists ? tile.head : kNoHead, tile.first_row, tile.last_step,
                                     tile.first_step));
    mbarrier_arrive(full);
    slot_.advance();
  }

  // Returns whether there is another tile.
  // threads: whole converged warps; every warp takes every tile
  template <typename Found>
  __device__ __forceinline__ bool take(Found& tile) {
    const unsigned full = smem_ + Plan::full_tile(slot_.index());
    const unsigned from = smem_ + Plan::tile(slot_.index());
    mbarrier_wait(full, slot_.parity());
    // The lane that frees the slot reads it, and hands on what it has read.
    const bool leads = threadIdx.x % 32 == 0;
    const uint4 sequence = leads ? ld_shared_16(from) : make_uint4(0, 0, 0, 0);
    const uint4 rest = leads ? ld_shared_16(from + 16) : make_uint4(0, 0, 0, 0);
    tile.batch = 0;
    const int passed = uniform(sequence.y);
    tile.sequence = {uniform(sequence.x), passed, uniform(sequence.z), uniform(sequence.w), passed};
    tile.head = uniform(rest.x);
    tile.first_row = uniform(rest.y);
    tile.last_step = uniform(rest.z);
    tile.first_step = uniform(rest.w);
    if (leads) {
      mbarrier_arrive(Plan::empty(full));
    }
    slot_.advance();
    return tile.head != kNoHead;
  }

 private:
  static constexpr int kNoHead = -1;
  enum Flag : bool { kPassesNumber = kScaleBlock > 0 };

  // Returns the first lane's value.
  static __device__ __forceinline__ int uniform(unsigned value) {
    return __shfl_sync(0xffffffffu, static_cast<int>(value), 0);
  }

  const unsigned smem_;
  Ring<S::kTileSlots> slot_;
};

// Calls `load` in all lanes with each tile that this block computes, and hands the tiles on. With
// the dynamic schedule the counter is incremented once for each tile; the block that increments it
// last resets it to 0.
// threads: one warp, converged
template <typename S, typename Args, typename Load>
__device__ __forceinline__ void produce_packed_tiles(const Args& work, unsigned smem,
                                                     const Load& load) {
  PackedTiles<S, Args> tiles(work);
  PackedQueue<S> queue(smem);
  const bool leads = threadIdx.x % 32 == 0;
  int index = static_cast<int>(blockIdx.x);
  int count = -1;  // of the counter, before this block's last increment
#pragma unroll 1
  for (;;) {
    Tile tile{};
    const bool exists = tiles.find(index, tile);
    if (leads) {
      queue.put(tile, exists);
    }
    if (!exists) {
      break;
    }
    if (leads) {
      if constexpr (S::kDynamic) {
        count = atomicAdd(work.next_tile, 1);
      }
    }
    load(tile);
    __syncwarp();
    if constexpr (S::kDynamic) {
      count = __shfl_sync(0xffffffffu, count, 0);
    }
    index = (S::kDynamic ? count : index) + static_cast<int>(gridDim.x);
  }
  if constexpr (S::kDynamic) {
    if (leads && count == tiles.count() - 1) {
      *work.next_tile = 0;
    }
  }
}

// Calls `use` with the same tiles.
// threads: whole converged warps
template <typename S, typename Use>
__device__ __forceinline__ void consume_packed_tiles(unsigned smem, const Use& use) {
  PackedQueue<S> queue(smem);
#pragma unroll 1
  for (;;) {
    Tile tile;
    if (!queue.take(tile)) {
      break;
    }
    use(tile);
  }
}

#endif
