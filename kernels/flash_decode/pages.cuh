// Which pages of K and V a warp loads for a step, if these are pools of pages.
#ifndef FATUNE_KERNELS_FLASH_DECODE_PAGES_CUH
#define FATUNE_KERNELS_FLASH_DECODE_PAGES_CUH

#include "common/ptx_tma.cuh"
#include "flash_decode/config.cuh"
#include "flash_decode/kernel_args.cuh"
#include "flash_decode/part_schedule.cuh"

// Brings a share of the table into the L2: 1024 entries for each block. threads: one warp
__device__ __forceinline__ void prefetch_pages(const Work& work) {
  const long long first = (static_cast<long long>(blockIdx.x) * 32 + threadIdx.x % 32) * 32;
  if (pages_of(work, 0) + first < pages_of(work, work.batch)) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(pages_of(work, 0) + first));
  }
}

// The pages of one step: a lane has those with the numbers lane, lane + 32 and so on of the step.
// If a page has all keys of a step, the first lane has it.
// threads: one warp, in all functions
template <typename S>
class StepPages {
 public:
  // Asks for a step's entries of the table. Those behind the sequence's last page are not read.
  __device__ __forceinline__ void ask(const Work& work, const Part& part, int step) {
    const int first_key = step * S::kStepKeys;
    const int* const table = pages_of(work, part.batch);
    row_ = first_key % kPageSize;
#pragma unroll
    for (int i = 0; i < kOfLane; ++i) {
      const int key = first_key + number(i) * kPageSize;
      const bool is_read = number(i) < kStepPages && key < part.keys;
      pages_[i] = is_read ? __ldg(table + key / kPageSize) : kOutside;
    }
  }

  // Starts the copies of all keys of a tile of K or V, or of a part of a latent tile. What is
  // behind the sequence's last page becomes 0, and counts among the tile's bytes too. shape:   to:
  // the tile; first_panel: its first; full: the mbarrier that counts its bytes
  template <L2Policy kPolicy>
  __device__ __forceinline__ void load(unsigned to, const TensorMap* map, int first_panel, int head,
                                       unsigned full) const {
    using Plan = SmemPlan<S>;
#pragma unroll
    for (int i = 0; i < kOfLane; ++i) {
      if (number(i) >= kStepPages) {
        continue;
      }
      if constexpr (kIsWhole) {
        tma_load<kPolicy>(to, map, {0, row_, first_panel, head, pages_[i]}, full);
      } else {
#pragma unroll
        for (int panel = 0; panel < kMostPanels; ++panel) {
          if (S::kLatent && panel == Plan::kFirstPanels && first_panel == 0) {
            break;
          }
          tma_load<kPolicy>(to + panel * Plan::kPanelBytesKv + number(i) * (kPageSize * 128), map,
                            {0, 0, first_panel + panel, head, pages_[i]}, full);
        }
      }
    }
  }

 private:
  static_assert(S::kStepKeys % kPageSize == 0 || kPageSize % S::kStepKeys == 0,
                "a step has whole pages, or a page whole steps");
  static constexpr bool kIsWhole = kPageSize >= S::kStepKeys;
  static constexpr int kStepPages = kIsWhole ? 1 : S::kStepKeys / kPageSize;
  static constexpr int kOfLane = (kStepPages + 31) / 32;
  enum : int { kMostPanels = S::kLatent ? S::kPanels - 4 : S::kPanels };  // of a part of a tile
  static constexpr int kOutside = -1;  // no page of the tensor: its box becomes 0

  __device__ __forceinline__ static int number(int i) {
    return static_cast<int>(threadIdx.x) % 32 + 32 * i;
  }

  int pages_[kOfLane];
  int row_;  // of the first page: the step's first key
};

#endif
