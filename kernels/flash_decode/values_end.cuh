// What is behind a sequence's end in the last tile of V.
#ifndef FATUNE_KERNELS_FLASH_DECODE_VALUES_END_CUH
#define FATUNE_KERNELS_FLASH_DECODE_VALUES_END_CUH

#include "common/ptx_barrier.cuh"
#include "common/ptx_memory.cuh"
#include "common/ptx_tma.cuh"
#include "flash_decode/config.cuh"
#include "flash_decode/kernel_args.cuh"
#include "flash_decode/part_schedule.cuh"
#include "flash_decode/tile_layout.cuh"

inline constexpr unsigned kValuesBarrier = 2;

// Sets rows of V behind the sequence's end to 0 if the part ends there: they may be NaN, which a
// probability of 0 would not remove. Where all sequences have seq_len_kv keys and K and V are
// contiguous, the rows are outside of the tensor, and 0 already.
// shape:   at: the stage of the part's last step
// threads: all consumers, of latent ones the one that the stage belongs to; sync: out: the product
//          may read the tile
template <typename S>
__device__ __forceinline__ void clear_values_behind(const Work& work, const Part& part,
                                                    unsigned smem, const Ring<S::kStages>& at) {
  using Plan = SmemPlan<S>;
  using Layout = TileLayout<S>;
  const int keys = part.keys - (part.end - 1) * S::kStepKeys;
  if ((kPageSize == 0 && work.seq_lens_kv == nullptr) || keys >= S::kStepKeys) {
    return;
  }
  enum : int { kThreads = S::kLatent ? 128 : S::kConsumers };
  mbarrier_wait(smem + Plan::full_v(at.index), at.parity);
  const unsigned values = smem + (S::kLatent ? Plan::key(at.index) : Plan::value(at.index));
  const int thread = static_cast<int>(S::kLatent ? threadIdx.x % kThreads : threadIdx.x);
#pragma unroll 1
  for (int panel = 0; panel < S::kHeadDimV * S::kKvBytes / S::kLineBytes; ++panel) {
#pragma unroll 1
    for (int chunk = max(keys, 0) * Layout::kChunks + thread;
         chunk < S::kStepKeys * Layout::kChunks; chunk += kThreads) {
      st_shared_16(values + panel * Layout::kPanelBytes + Layout::chunk_offset(chunk),
                   make_uint4(0, 0, 0, 0));
    }
  }
  fence_async_proxy();
  named_barrier_wait(kValuesBarrier, kThreads);
}

#endif
