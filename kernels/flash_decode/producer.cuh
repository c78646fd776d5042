// The producer: one warp that takes parts and brings their Q, K and V into shared memory.
#ifndef FATUNE_KERNELS_FLASH_DECODE_PRODUCER_CUH
#define FATUNE_KERNELS_FLASH_DECODE_PRODUCER_CUH

#include "common/ptx_barrier.cuh"
#include "common/ptx_tma.cuh"
#include "flash_decode/cluster.cuh"
#include "flash_decode/config.cuh"
#include "flash_decode/kernel_args.cuh"
#include "flash_decode/pages.cuh"
#include "flash_decode/part_schedule.cuh"
#include "flash_decode/tile_layout.cuh"

// Here the producer waits for the counter, which initialises the mbarriers.
inline constexpr unsigned kInitialisedBarrier = 9;

template <typename S>
class Producer {
 public:
  using Plan = SmemPlan<S>;

  __device__ __forceinline__ Producer(const Work& work, const TensorMap* map_q,
                                      const TensorMap* map_k, const TensorMap* map_v,
                                      unsigned char* memory, unsigned smem)
      : work_(work), map_q_(map_q), map_k_(map_k), map_v_(map_v), memory_(memory), smem_(smem) {}

  // Asks for what memory takes long to give, before the barriers are initialised. Returns what the
  // counter had, in the first lane, if the first part is taken from it.
  // threads: one warp, converged
  __device__ __forceinline__ int begin() const {
    prefetch_lengths(work_);
    if constexpr (kPageSize > 0) {
      prefetch_pages(work_);
    }
    int taken = 0;
    if (threadIdx.x % 32 == 0) {
      if (work_.tile_items != 0 && takes_for_cluster() && !merges_sums(work_)) {
        taken = count_one(work_.next_part);
      }
      prefetch_tensor_map(map_q_);
      prefetch_tensor_map(map_k_);
      prefetch_tensor_map(map_v_);
    }
    return taken;
  }

  // taken: what begin() returned. threads: one warp, converged
  __device__ __forceinline__ void run(int taken) {
    if constexpr (kCanMerge) {
      if (merges_sums(work_)) {
        run_one(part_of_cluster<S>(work_));
        __syncwarp();
        cluster_wait();
        return;
      }
    }
    SequenceFinder<S> sequences(work_);
    // Other blocks of a cluster may load keys before this one has counted.
    constexpr unsigned kScratch = kCluster > 1 ? Plan::kP : Plan::key(0);
    const int parts = sequences.count_parts(reinterpret_cast<int*>(memory_ + kScratch)) *
                      work_.kv_heads * work_.row_tiles;
    if (work_.seq_lens_kv != nullptr && !sequences.has_one_a_lane()) {
      fence_async_proxy();  // the first load overwrites what was counted there
      __syncwarp();
    }
    const int items = items_of_all(work_);
    const int all = parts + items;
    // Where there is a block for each item, each takes one number behind the parts: that of its
    // item, or of none. Else blocks take items until there are none.
    takes_one_item_ = kCluster == 1 && items <= static_cast<int>(gridDim.x);
    const int counted = takes_one_item_ ? parts : all;
    const bool is_first = threadIdx.x % 32 == 0;
    // Blocks that wait for parts of others may not own parts before they run: a block that cannot
    // run would keep them waiting.
    int index = work_.tile_items == 0 ? static_cast<int>(blockIdx.x)
                : is_first            ? next_index(taken, counted)
                                      : 0;
    index = __shfl_sync(0xffffffffu, index, 0);
    named_barrier_wait(kInitialisedBarrier, 64);
#pragma unroll 1
    while (index < all) {
      const Part part = index < parts ? part_at<S>(work_, sequences, index)
                                      : item_at<S>(work_, sequences, index - parts);
      if constexpr (kPageSize > 0) {
        if (is_first) {
          pass(part);
        }
        const int taken_next = load_pages(part, counted);
        if (is_first) {
          index = takes_no_more(part) ? all : next_index(taken_next, counted);
        }
        slot_.advance();
      } else if (is_first) {
        pass(part);
        const int taken_next = load(part, counted);
        index = takes_no_more(part) ? all : next_index(taken_next, counted);
        slot_.advance();
      }
      index = __shfl_sync(0xffffffffu, index, 0);
    }
    if (is_first) {
      pass_none();
    }
  }

 private:
  // As run(), where the block has this part or, if the sequence does not have it, none.
  // threads: one warp, converged
  __device__ __forceinline__ void run_one(const Part& part) {
    const bool is_first = threadIdx.x % 32 == 0;
    named_barrier_wait(kInitialisedBarrier, 64);
    if (part.index < part.parts) {
      if (is_first) {
        pass(part);
      }
      if constexpr (kPageSize > 0) {
        load_pages(part, 0);
      } else if (is_first) {
        load(part, 0);
      }
      slot_.advance();
    }
    if (is_first) {
      pass_none();
    }
  }

  static constexpr unsigned kToFullV = Plan::full_v(0) - Plan::full_k(0);

  // Of the tile of K (v: 0) or V (1) of a stage, or of that part of a latent tile.
  __device__ __forceinline__ static unsigned bytes_of(int v) {
    return S::kLatent && v != 0 ? Plan::kSecondBytes : Plan::kFirstBytes;
  }

  // What this block loads of it. Of the five panels of the second part of a latent tile, the first
  // block of a cluster loads three.
  __device__ __forceinline__ PanelRange panels_of(int v) const {
    if constexpr (!S::kLatent) {
      return {v == 0 ? map_k_ : map_v_, 0, S::kKvPanels};
    } else if constexpr (kCluster == 1) {
      return {v == 0 ? map_k_ : map_v_, v * Plan::kFirstPanels, 4 + v};
    } else {
      const int block = block_of_cluster();
      const bool has_odd = v != 0 && block == 0;
      return {has_odd ? map_v_ : map_k_, v == 0 ? 2 * block : 4 + 3 * block, has_odd ? 3 : 2};
    }
  }

  // Which head that is in the maps of pages.
  __device__ __forceinline__ int head_in_map(int head, int v) const {
    return TileLayout<S>::kInGroups ? head * head_columns(work_, v) : head;
  }

  // Where these panels are, of the tile in the present stage.
  __device__ __forceinline__ unsigned place_of(const PanelRange& panels, int v) const {
    const unsigned tile = smem_ + Plan::key(stage_.index);
    return tile + (S::kLatent ? panels.first * Plan::kPanelBytesKv : v * Plan::kFirstBytes);
  }

  __device__ __forceinline__ static bool takes_for_cluster() {
    return kCluster == 1 || block_of_cluster() == 0;
  }

  // threads: one, in all functions without other contracts

  // Whether this block may have to ask the counter for its next part. counted: the numbers that the
  // counter gives out, but for each block's last one; 0: the block has no other part
  __device__ __forceinline__ bool may_take(int counted) const {
    const int own = work_.tile_items == 0 ? static_cast<int>(gridDim.x) : 0;
    return takes_for_cluster() && (counted > own || (own == 0 && !kCanMerge));
  }

  // Whether the block's last number was this one.
  __device__ __forceinline__ bool takes_no_more(const Part& part) const {
    return part.item >= 0 && takes_one_item_;
  }

  // Takes the next part or item from the counter, if it may be needed. After an item, it waits
  // until the parts of that item's tile are counted: what it took before would wait with it, and
  // other blocks may be free. What is returned is passed to next_index, later: the counter takes
  // long to answer.
  __device__ __forceinline__ int take_next(const Part& part, int counted) const {
    if (!may_take(counted) || takes_no_more(part)) {
      return 0;
    }
    if (part.item >= 0) {
      mbarrier_wait(Plan::empty(smem_ + Plan::full_part(slot_.index)), slot_.parity);
    }
    return count_one(work_.next_part);
  }

  // The steps of a part before which the block takes its next one: late, so that a block with a
  // long part does not keep another part from blocks that are free, but early enough for the
  // counter to answer while the last tiles are loaded.
  static constexpr int kStepsAhead = 2;

  // 0 if the part is too short, or no next part may have to be taken.
  __device__ __forceinline__ int steps_ahead(const Part& part, int counted) const {
    return may_take(counted) && part.end - part.step > kStepsAhead ? kStepsAhead : 0;
  }

  // The number of the part or item that was taken. The block that takes the last one resets the
  // counter. A cluster takes as many as it has blocks at once, each of another tile of rows.
  __device__ __forceinline__ int next_index(int taken, int counted) {
    const int blocks = static_cast<int>(gridDim.x);
    const bool has_own = work_.tile_items == 0;
    if (has_own && counted <= blocks) {
      return counted;
    }
    if constexpr (kCluster > 1) {
      taken = taken_.share(taken, smem_);
    }
    const int takers = blocks / kCluster;
    const int to_take = counted / kCluster;
    if (taken == (has_own ? to_take - 1 : to_take + takers - 1) && takes_for_cluster()) {
      *work_.next_part = 0;
    }
    return (has_own ? takers + taken : taken) * kCluster + block_of_cluster();
  }

  // Passes the part on, to the query loader or to all. One that is to be computed is there when its
  // queries are.
  __device__ __forceinline__ void pass(const Part& part) const {
    const unsigned full = smem_ + Plan::full_part(slot_.index);
    mbarrier_wait(Plan::empty(full), slot_.parity ^ 1);
    int4* const to = reinterpret_cast<int4*>(memory_ + Plan::kParts + 48 * slot_.index);
    to[0] = {part.batch, part.head, part.row_tile, part.keys};
    to[1] = {part.step, part.end, part.parts, part.index};
    to[2] = {part.item, part.first, 0, 0};
    if (S::kTall && work_.box_rows == 0) {
      mbarrier_arrive(smem_ + Plan::passed(slot_.index));
    } else if (part.batch < 0 || part.item >= 0) {
      mbarrier_arrive(full);
    }
  }

  __device__ __forceinline__ void pass_none() const {
    Part none{};
    none.batch = -1;
    pass(none);
  }

  // Loads the part's steps, each by load_step(step), and its queries before one of them. Returns
  // what take_next() does, which has the same `counted`. is_first: whether this lane loads queries
  // and takes the next part
  template <typename LoadStep>
  __device__ __forceinline__ int load_steps(const Part& part, int counted, bool is_first,
                                            const LoadStep& load_step) {
    int taken = 0;
    int step = part.step;
    int queries_at = queries_before(part);
    // A loop of all steps would wait for the counter's answer in each of its turns.
#pragma unroll 1
    for (int left = steps_ahead(part, counted); left >= 0; left -= kStepsAhead) {
      const int end = part.end - left;
      if (is_first && left == 0) {
        taken = take_next(part, counted);
      }
#pragma unroll 1
      for (;; ++step) {
        if (step == queries_at) {
          if (is_first) {
            load_queries(part);
          }
          queries_at = -1;
        }
        if (step >= end) {
          break;
        }
        load_step(step);
        stage_.advance();
      }
    }
    return taken;
  }

  // As load_steps().
  __device__ __forceinline__ int load(const Part& part, int counted) {
    return load_steps(part, counted, true, [&](int step) {
      Coordinates5 at{0, step * S::kStepKeys, 0, part.head, part.batch};
      // One copy of the code for both, which is the first that a block needs.
#pragma unroll 1
      for (int v = 0; v < 2; ++v) {
        const PanelRange panels = panels_of(v);
        at.x2 = panels.first;
        load_tile(place_of(panels, v), panels.map, at,
                  smem_ + Plan::full_k(stage_.index) + v * kToFullV, bytes_of(v));
      }
    });
  }

  // As load_steps(), of keys in pages. All lanes have the same state but that of queries and what
  // is returned, which are the first lane's. threads: one warp, converged
  __device__ __forceinline__ int load_pages(const Part& part, int counted) {
    PartPages<S> pages;
    pages.ask(work_, part, part.step);
    return load_steps(part, counted, threadIdx.x % 32 == 0, [&](int step) {
      // The table takes long to answer: it is asked for a step before its tiles are free.
      PartPages<S> next;
      next.ask(work_, part, step + 1);
      if constexpr (PartPages<S>::kByOneLane) {
        load_by_one_lane(pages, part.head);
      } else {
#pragma unroll 1
        for (int v = 0; v < 2; ++v) {
          const PanelRange panels = panels_of(v);
          load_tile_of(pages, place_of(panels, v), panels, head_in_map(part.head, v),
                       smem_ + Plan::full_k(stage_.index) + v * kToFullV, bytes_of(v));
        }
      }
      pages = next;
    });
  }

  // As load_tile(), of the tiles of K and V of a step in few pages. That what all copies share is
  // warp-uniform leaves one register to move for each of them. threads: one warp, converged
  __device__ __forceinline__ void load_by_one_lane(const PartPages<S>& of_lanes, int head) const {
    const typename PartPages<S>::InOneLane pages(of_lanes);
    const unsigned smem = warp_uniform(smem_);
    const int stage = warp_uniform(stage_.index);
    head = warp_uniform(head);
    if (threadIdx.x % 32 == 0) {
#pragma unroll
      for (int v = 0; v < 2; ++v) {
        const unsigned full = smem + Plan::full_k(stage) + v * kToFullV;
        const unsigned to = smem + Plan::key(stage) + v * Plan::kFirstBytes;
        const TensorMap* const map = panels_of(v).map;
        const int column = head_in_map(head, v);
        mbarrier_wait(Plan::empty(full), stage_.parity ^ 1);
        mbarrier_arrive_expect(full, bytes_of(v));
        if (work_.row_tiles > 1) {
          pages.template load<L2Policy::kNormal>(to, map, column, full);
        } else {
          pages.template load<L2Policy::kEvictFirst>(to, map, column, full);
        }
      }
    }
    __syncwarp();
  }

  // As load_tile(), of keys in pages. threads: one warp
  __device__ __forceinline__ void load_tile_of(const PartPages<S>& pages, unsigned to,
                                               const PanelRange& panels, int head, unsigned full,
                                               unsigned bytes) const {
    if (threadIdx.x % 32 == 0) {
      mbarrier_wait(Plan::empty(full), stage_.parity ^ 1);
      mbarrier_arrive_expect(full, bytes);
    }
    __syncwarp();
    if (work_.row_tiles > 1) {
      pages.template load<L2Policy::kNormal>(to, panels, head, full);
    } else {
      pages.template load<L2Policy::kEvictFirst>(to, panels, head, full);
    }
  }

  // Before which step's tiles the producer loads the part's Q; -1: the query loader does, or it is
  // an item.
  __device__ __forceinline__ int queries_before(const Part& part) const {
    if (work_.box_rows == 0 || part.item >= 0) {
      return -1;
    }
    // If the part before has its Q in the same place, the tiles come first whose buffers are free
    // before that place is: all but those in the buffers of that part's last step.
    const bool is_free = S::kQueryTiles == S::kSlots || !has_loaded_queries_;
    return is_free ? part.step : max(part.step, min(part.step + S::kStages - 1, part.end));
  }

  __device__ __forceinline__ void load_queries(const Part& part) {
    const unsigned to = smem_ + Plan::query(query_.index);
    mbarrier_wait(smem_ + Plan::free_query(query_.index), query_.parity ^ 1);
    query_.advance();
    has_loaded_queries_ = true;
    const unsigned full = smem_ + Plan::full_part(slot_.index);
    mbarrier_arrive_expect(full, S::kPanels * 128 * work_.box_rows);
    const int row = part.row_tile * work_.tile_rows;
    const int query = query_of(work_, row);
    const int first_head = S::kLatent ? row - query * work_.group : 0;
#pragma unroll
    for (int panel = 0; panel < S::kPanels; ++panel) {
      tma_load(to + panel * Plan::kPanelBytesQ, map_q_,
               {64 * panel, first_head, query, part.head, part.batch}, full);
    }
  }

  // Loads the tile of K or V when the buffer is empty. Several tiles of rows read it, or one does.
  __device__ __forceinline__ void load_tile(unsigned to, const TensorMap* map, Coordinates5 at,
                                            unsigned full, unsigned bytes) const {
    mbarrier_wait(Plan::empty(full), stage_.parity ^ 1);
    mbarrier_arrive_expect(full, bytes);
    if (work_.row_tiles > 1) {
      load_for_cluster<L2Policy::kNormal>(to, map, at, full);
    } else {
      load_for_cluster<L2Policy::kEvictFirst>(to, map, at, full);
    }
  }

  const Work& work_;
  const TensorMap* map_q_;
  const TensorMap* map_k_;
  const TensorMap* map_v_;
  unsigned char* const memory_;
  const unsigned smem_;
  Ring<S::kSlots> slot_;
  Ring<S::kQueryTiles> query_;
  bool has_loaded_queries_ = false;
  bool takes_one_item_ = false;
  Ring<S::kStages> stage_;
  TakenForCluster<S> taken_;
};

#endif
