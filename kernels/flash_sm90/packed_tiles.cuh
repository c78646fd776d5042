// Packed batches: which tile is computed when, and where its sequence's rows are. FATUNE_PACKED
// says whether the batch is packed; unless it is, nothing here is used.
//
// One warp of the producer finds the tiles and loads them, and hands them on through a queue.
#ifndef FATUNE_KERNELS_FLASH_SM90_PACKED_TILES_CUH
#define FATUNE_KERNELS_FLASH_SM90_PACKED_TILES_CUH

#include "common/ptx_barrier.cuh"
#include "common/ptx_memory.cuh"
#include "common/ptx_tma.cuh"
#include "flash_sm90/config.cuh"
#include "flash_sm90/kernel_args.cuh"
#include "flash_sm90/smem_plan.cuh"
#include "flash_sm90/tile_schedule.cuh"

// A cursor over the tiles of a packed batch: for each sequence its units of BLOCK_M rows, and for
// each unit the heads, which share keys in the L2. Under a causal mask a sequence's last rows come
// first. Each lane knows one of 32 neighbouring sequences.
// threads: one warp, converged, in every function
template <typename S, typename Args>
class PackedTiles {
 public:
  // args: cu_seqlens_q, cu_seqlens_kv, batch, heads
  __device__ __forceinline__ explicit PackedTiles(const Args& args)
      : args_(args), lane_(static_cast<int>(threadIdx.x % 32)) {
    load_sequences();
  }

  // Finds the tile of an index, which must be no less than the one before. Returns whether there is
  // such a tile.
  __device__ __forceinline__ bool find(int index, Tile& tile) {
    const int unit = index / args_.heads;
    for (int end = last_end(); unit >= before_ + end; end = last_end()) {
      before_ += end;
      first_ += 32;
      if (first_ >= args_.batch) {
        return false;
      }
      load_sequences();
    }
    const int within = unit - before_;
    const int owner = __ffs(static_cast<int>(__ballot_sync(0xffffffffu, ends_ > within))) - 1;
    tile.batch = 0;
    tile.head = index - unit * args_.heads;
    set_tile(owner, within, tile);
    return true;
  }

  // Returns the number of all tiles, after find() has returned false.
  __device__ __forceinline__ int count() const { return before_ * args_.heads; }

 private:
  static __device__ __forceinline__ int units_of(int queries) {
    return (queries + S::kBlockM - 1) / S::kBlockM;
  }

  // Returns how many units the 32 sequences have.
  __device__ __forceinline__ int last_end() const { return __shfl_sync(0xffffffffu, ends_, 31); }

  __device__ __forceinline__ void load_sequences() {
    const int sequence = first_ + lane_;
    own_ = {0, 0, 0, 0};
    if (sequence < args_.batch) {
      own_.first_query = __ldg(args_.cu_seqlens_q + sequence);
      own_.first_key = __ldg(args_.cu_seqlens_kv + sequence);
      own_.seq_len = __ldg(args_.cu_seqlens_q + sequence + 1) - own_.first_query;
      own_.seq_len_kv = __ldg(args_.cu_seqlens_kv + sequence + 1) - own_.first_key;
      if constexpr (kPaged) {
        own_.first_key = sequence;
      }
    }
    ends_ = units_of(own_.seq_len);
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const int earlier = __shfl_up_sync(0xffffffffu, ends_, distance);
      ends_ += lane_ >= distance ? earlier : 0;
    }
  }

  // shape: owner: the lane whose sequence it is; within: the unit among those of the 32 sequences
  template <typename Found>
  __device__ __forceinline__ void set_tile(int owner, int within, Found& tile) const {
    tile.sequence = {__shfl_sync(0xffffffffu, own_.first_query, owner),
                     __shfl_sync(0xffffffffu, own_.first_key, owner),
                     __shfl_sync(0xffffffffu, own_.seq_len, owner),
                     __shfl_sync(0xffffffffu, own_.seq_len_kv, owner)};
    const int after = __shfl_sync(0xffffffffu, ends_, owner) - 1 - within;
    const int unit = kCausal ? after : units_of(tile.sequence.seq_len) - 1 - after;
    tile.first_row = unit * S::kBlockM;
    set_steps<S>(tile, tile.first_row, tile.sequence);
  }

  const Args& args_;
  const int lane_;
  int first_ = 0;   // sequence of lane 0
  int before_ = 0;  // units of earlier sequences
  int ends_;        // units of the sequences up to this lane's, from lane 0's on
  Sequence own_;    // this lane's
};

// Passes tiles of a packed batch from the producer to the consumers. A slot has eight words.
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
    st_shared_16(to, make_uint4(tile.sequence.first_query, tile.sequence.first_key,
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
    const uint4 sequence = ld_shared_16(from);
    const uint4 rest = ld_shared_16(from + 16);
    tile.batch = 0;
    tile.sequence = {uniform(sequence.x), uniform(sequence.y), uniform(sequence.z),
                     uniform(sequence.w)};
    tile.head = uniform(rest.x);
    tile.first_row = uniform(rest.y);
    tile.last_step = uniform(rest.z);
    tile.first_step = uniform(rest.w);
    if (threadIdx.x % 32 == 0) {
      mbarrier_arrive(Plan::empty(full));
    }
    slot_.advance();
    return tile.head != kNoHead;
  }

 private:
  static constexpr int kNoHead = -1;

  // The shuffle tells the compiler that the value is warp-uniform.
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
