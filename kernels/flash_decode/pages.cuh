// Which pages of K and V a warp loads for a step, if these are pools of pages.
#ifndef FATUNE_KERNELS_FLASH_DECODE_PAGES_CUH
#define FATUNE_KERNELS_FLASH_DECODE_PAGES_CUH

#include "common/ptx_tma.cuh"
#include "common/step_pages.cuh"
#include "flash_decode/cluster.cuh"
#include "flash_decode/config.cuh"
#include "flash_decode/kernel_args.cuh"
#include "flash_decode/part_schedule.cuh"
#include "flash_decode/tile_layout.cuh"

// Brings a share of the table into the L2: 1024 entries for each block. threads: one warp
__device__ __forceinline__ void prefetch_pages(const Work& work) {
  const long long first = (static_cast<long long>(blockIdx.x) * 32 + threadIdx.x % 32) * 32;
  if (pages_of(work, 0) + first < pages_of(work, work.batch)) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(pages_of(work, 0) + first));
  }
}

// The pages of one step.
// threads: one warp, in all functions
template <typename S>
class PartPages {
  using Pages = StepPages<kPageSize, S::kStepKeys>;

 public:
  // Up to so many copies of a tile are started by one lane, without a loop over lanes.
  enum : bool { kByOneLane = TileLayout<S>::kInGroups && Pages::kBoxes <= 8 };

  // The pages of a step in one lane.
  class InOneLane {
   public:
    __device__ __forceinline__ explicit InOneLane(const PartPages& of) {
#pragma unroll
      for (int box = 0; box < Pages::kBoxes; ++box) {
        pages_[box] = of.pages_.page_of(box);
      }
    }

    // As PartPages::load(), of a whole tile. threads: one
    template <L2Policy kPolicy>
    __device__ __forceinline__ void load(unsigned to, const TensorMap* map, int head,
                                         unsigned full) const {
#pragma unroll
      for (int box = 0; box < Pages::kBoxes; ++box) {
        load_page<kPolicy>(to, map, box, head, pages_[box], full);
      }
    }

   private:
    int pages_[Pages::kBoxes];
  };

  __device__ __forceinline__ void ask(const Work& work, const Part& part, int step) {
    pages_.ask(pages_of(work, part.batch), part.keys, step);
  }

  // Starts the copies of all keys of some panels of a tile of K or V. What is behind the sequence's
  // last page becomes 0, and counts among the tile's bytes too.
  // shape:   to: the first of the panels; head: its coordinate in the map; full: the mbarrier that
  //          counts their bytes
  template <L2Policy kPolicy>
  __device__ __forceinline__ void load(unsigned to, const PanelRange& panels, int head,
                                       unsigned full) const {
    using Plan = SmemPlan<S>;
    pages_.for_each_box([&](int box, int row, int page) {
      if constexpr (Pages::kBoxes == 1) {
        load_for_cluster<kPolicy>(to, panels.map, {0, row, panels.first, head, page}, full);
      } else if constexpr (TileLayout<S>::kInGroups) {
        load_page<kPolicy>(to, panels.map, box, head, page, full);
      } else {
#pragma unroll
        for (int panel = 0; panel < kMostPanels; ++panel) {
          if (S::kLatent && panel == panels.count) {
            break;
          }
          load_for_cluster<kPolicy>(
              to + panel * Plan::kPanelBytesKv + box * (kPageSize * S::kLineBytes), panels.map,
              {0, row, panels.first + panel, head, page}, full);
        }
      }
    });
  }

 private:
  // Starts the copy of all columns of a page. threads: one
  template <L2Policy kPolicy>
  __device__ __forceinline__ static void load_page(unsigned to, const TensorMap* map, int box,
                                                   int head, int page, unsigned full) {
    load_for_cluster<kPolicy>(to + box * (kPageSize * S::kLineBytes * S::kKvPanels), map,
                              {head, 0, 0, 0, page}, full);
  }

  static_assert(S::kStepKeys % kPageSize == 0 || kPageSize % S::kStepKeys == 0,
                "a step has whole pages, or a page whole steps");
  enum : int { kMostPanels = S::kLatent ? (kCluster == 1 ? 5 : 3) : S::kKvPanels };

  Pages pages_;
};

#endif
