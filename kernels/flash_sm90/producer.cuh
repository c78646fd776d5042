// The producer: one thread that brings Q, K and V into shared memory or, where these are pools of
// pages, one warp.
#ifndef FATUNE_KERNELS_FLASH_SM90_PRODUCER_CUH
#define FATUNE_KERNELS_FLASH_SM90_PRODUCER_CUH

#include "common/ptx_barrier.cuh"
#include "common/ptx_tma.cuh"
#include "common/step_pages.cuh"
#include "flash_sm90/smem_plan.cuh"
#include "flash_sm90/tile_schedule.cuh"

// What one block of a cluster loads of a tile of K or V whose rows have kColumns elements, for all
// blocks: half of the panels or, if their number is odd, half of the rows of each.
template <typename S, int kColumns>
struct ClusterShare {
  using All = Panels<kColumns>;
  enum Extent : int {
    kByPanels = All::kCount % S::kCluster == 0,
    kPanels = kByPanels ? All::kCount / S::kCluster : All::kCount,
    kRows = kByPanels ? S::kBlockN : S::kBlockN / S::kCluster,
    kPerCopy = All::kInMap && kByPanels ? kPanels : 1  // panels
  };
};

template <typename S>
class Producer {
 public:
  using Plan = SmemPlan<S>;

  // smem: start of dynamic shared memory; rank: this block's rank in its cluster
  __device__ __forceinline__ Producer(const Work& work, const TensorMap* map_q,
                                      const TensorMap* map_k, const TensorMap* map_v, unsigned smem,
                                      unsigned rank)
      : work_(work), map_q_(map_q), map_k_(map_k), map_v_(map_v), smem_(smem), rank_(rank) {}

  // Loads in the order in which consumers use them: the first K, then Q, which waits until the last
  // tile's O is stored; with overlap, K of a step before V of the previous step, unless V has 8
  // bits and has to be transposed before it is used. With a spare slot the first consumer's Q does
  // not wait, and what it needs next does not wait for other Q.
  __device__ __forceinline__ void load_tile(const Tile& tile) {
    load_k(tile, tile.last_step);
    load_queries(tile, 0, S::kSpareSlot ? 1 : S::kGroups);
    if constexpr (S::kOverlap && !kEightBits) {
      int step = tile.last_step - 1;
      if constexpr (S::kSpareSlot) {
        if (step >= tile.first_step) {
          load_k(tile, step);
          load_v(tile, step + 1);
          --step;
        }
        load_queries(tile, 1, S::kGroups);
      }
#pragma unroll 1
      for (; step >= tile.first_step; --step) {
        load_k(tile, step);
        load_v(tile, step + 1);
      }
      load_v(tile, tile.first_step);
    } else {
      load_v(tile, tile.last_step);
      if constexpr (S::kSpareSlot) {
        load_queries(tile, 1, S::kGroups);
      }
#pragma unroll 1
      for (int step = tile.last_step - 1; step >= tile.first_step; --step) {
        load_k(tile, step);
        load_v(tile, step);
      }
    }
  }

 private:
  // Waits until the buffer is empty, and announces the bytes that will arrive.
  __device__ __forceinline__ void claim(unsigned full, unsigned parity, unsigned bytes) const {
    if (leads_warp()) {
      mbarrier_wait(Plan::empty(full), parity ^ 1);
      mbarrier_arrive_expect(full, bytes);
    }
    if constexpr (kPaged) {
      __syncwarp();
    }
  }

  // Loads Q of the consumers from `first` to before `end`.
  __device__ __forceinline__ void load_queries(const Tile& tile, int first, int end) {
    const int first_query = sequence_of(work_, tile).first_query + tile.first_row;
#pragma unroll
    for (int group = first; group < end; ++group) {
      const unsigned full = smem_ + Plan::full_q(q_.index(), group);
      claim(full, q_.parity(), Plan::kBytesQueries);
      if (!leads_warp()) {
        continue;
      }
      using OfQ = Panels<S::kHeadDim>;
      for_each_copy<OfQ::kCount, OfQ::kQueriesPerCopy>([&](int panel) {
        tma_load<kPassing>(smem_ + Plan::query(q_.index(), group) + panel * Plan::kPanelBytesQ,
                           map_q_,
                           queries_at<S::kHeadDim>(first_query + group * S::kQueriesToConsumer,
                                                   panel, tile.head, tile.batch),
                           full);
      });
      if constexpr (S::kSpareSlot) {
        q_.advance();
      }
    }
    if constexpr (!S::kSpareSlot) {
      q_.advance();
    }
  }

  // Loads this block's share of a K or V tile into all blocks of the cluster.
  template <int kColumns>
  __device__ __forceinline__ void load_share(unsigned to, const TensorMap* map, const Tile& tile,
                                             int step, unsigned full) const {
    using Share = ClusterShare<S, kColumns>;
    const int part = static_cast<int>(rank_);
    const int row = sequence_of(work_, tile).first_key + step * S::kBlockN +
                    (Share::kByPanels ? 0 : part * Share::kRows);
    const int first_panel = Share::kByPanels ? part * Share::kPanels : 0;
    constexpr unsigned kShareLines = Share::kRows * (Share::kByPanels ? Share::kPanels : 1);
    const int head = tile.head / work_.group;
    for_each_copy<Share::kPanels, Share::kPerCopy>([&](int i) {
      const Coordinates5 at = panel_at<kColumns>(row, first_panel + i, head, tile.batch);
      const unsigned panel_to = to + i * Plan::kPanelBytesKv;
      if constexpr (S::kCluster == 1) {
        tma_load<kReused>(panel_to, map, at, full);
      } else {
        tma_load_multicast(panel_to + rank_ * (kShareLines * Plan::kLineBytes), map, at, full,
                           static_cast<unsigned short>((1 << S::kCluster) - 1));
      }
    });
  }

  // Asks for the pages of a step, before a buffer is awaited: the table may take long to answer.
  __device__ __forceinline__ auto pages_of_step(const Tile& tile, int step) const {
    StepPages<kPageSize, S::kBlockN> pages;
    pages.ask(pages_of(work_, tile), sequence_of(work_, tile).seq_len_kv, step);
    return pages;
  }

  // As load_share, of keys in pages. What is behind the sequence's last page becomes 0.
  // threads: one warp, converged
  template <int kColumns>
  __device__ __forceinline__ void load_boxes(const StepPages<kPageSize, S::kBlockN>& pages,
                                             unsigned to, const TensorMap* map, const Tile& tile,
                                             unsigned full) const {
    using OfRow = Panels<kColumns>;
    using Pages = StepPages<kPageSize, S::kBlockN>;
    constexpr int kPerCopy = Pages::kBoxes == 1 ? static_cast<int>(OfRow::kPerCopy) : 1;
    const int head = tile.head / work_.group;
    pages.for_each_box([&](int box, int row, int page) {
      for_each_copy<OfRow::kCount, kPerCopy>([&](int panel) {
        tma_load<kReused>(to + panel * Plan::kPanelBytesKv + box * (Pages::kBoxKeys * 128), map,
                          panel_at<kColumns>(row, panel, head, page), full);
      });
    });
  }

  __device__ __forceinline__ void load_k(const Tile& tile, int step) {
    const unsigned full = smem_ + Plan::full_k(k_.index());
    if constexpr (kPaged) {
      const auto pages = pages_of_step(tile, step);
      claim(full, k_.parity(), Plan::kBytesKv);
      load_boxes<S::kHeadDim>(pages, smem_ + Plan::key(k_.index()), map_k_, tile, full);
    } else {
      claim(full, k_.parity(), Plan::kBytesKv);
      load_share<S::kHeadDim>(smem_ + Plan::key(k_.index()), map_k_, tile, step, full);
    }
    k_.advance();
  }

  __device__ __forceinline__ void load_v(const Tile& tile, int step) {
    const unsigned full = smem_ + Plan::full_v(v_.index());
    if constexpr (kPaged) {
      const auto pages = pages_of_step(tile, step);
      claim(full, v_.parity(), Plan::kBytesV);
      load_boxes<S::kHeadDimV>(pages, smem_ + Plan::value(v_.index()), map_v_, tile, full);
    } else {
      claim(full, v_.parity(), Plan::kBytesV);
      load_share<S::kHeadDimV>(smem_ + Plan::value(v_.index()), map_v_, tile, step, full);
    }
    v_.advance();
  }

  const Work& work_;
  const TensorMap* map_q_;
  const TensorMap* map_k_;
  const TensorMap* map_v_;
  const unsigned smem_;
  const unsigned rank_;
  typename QuerySlots<S>::OfProducer q_;
  Ring<S::kStages> k_;
  Ring<S::kStages> v_;
};

#endif
