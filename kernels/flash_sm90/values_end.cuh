// What is behind a sequence's end in a tile of V: rows of the next sequence, of the last page, or
// room for more keys. They may be NaN, which a probability of 0 would not remove. kClearsValues
// says whether there may be such rows; unless it does, nothing here is used.
#ifndef FATUNE_KERNELS_FLASH_SM90_VALUES_END_CUH
#define FATUNE_KERNELS_FLASH_SM90_VALUES_END_CUH

#include "common/ptx_barrier.cuh"
#include "common/ptx_memory.cuh"
#include "common/ptx_tma.cuh"
#include "flash_sm90/config.cuh"
#include "flash_sm90/kernel_args.cuh"
#include "flash_sm90/packed_tiles.cuh"
#include "flash_sm90/smem_plan.cuh"
#include "flash_sm90/tile_schedule.cuh"

// Sets the rows of a tile of V from `rows` on to 0.
// shape:   values: the tile's address
// threads: one warp, converged; sync: out: the other lanes of the warp may go on before
template <typename S>
__device__ __forceinline__ void clear_values(unsigned values, int rows, int lane) {
  using Plan = SmemPlan<S>;
  constexpr int kLineChunks = Plan::kLineBytes / 16;
#pragma unroll 1
  for (int panel = 0; panel < Panels<S::kHeadDimV>::kCount; ++panel) {
#pragma unroll 1
    for (int chunk = rows * kLineChunks + lane; chunk < S::kBlockN * kLineChunks; chunk += 32) {
      st_shared_16(values + panel * Plan::kPanelBytesKv + 16 * chunk, make_uint4(0, 0, 0, 0));
    }
  }
  fence_async_proxy();
}

// Calls `use` with each tile of V that has arrived: its stage, the parity of the barriers, and how
// many of its rows are before the sequence's end.
// threads: one warp, converged
template <typename S, typename Use>
__device__ __forceinline__ void for_each_values(const Work& work, unsigned smem, const Use& use) {
  using Plan = SmemPlan<S>;
  Ring<S::kStages> v;
  const auto of_tile = [&](const auto& tile) {
#pragma unroll 1
    for (int step = tile.last_step; step >= tile.first_step; --step) {
      mbarrier_wait(smem + Plan::full_v(v.index()), v.parity());
      use(v.index(), v.parity(), sequence_of(work, tile).seq_len_kv - step * S::kBlockN);
      v.advance();
    }
  };
  if constexpr (kPacked) {
    consume_packed_tiles<S>(smem, of_tile);
  } else {
    consume_tiles<S>(work, smem, 0, of_tile);
  }
}

// Hands on each tile of V that has arrived, without rows behind its sequence's end.
// threads: one warp, converged
template <typename S>
__device__ __forceinline__ void hand_on_values(const Work& work, unsigned smem) {
  using Plan = SmemPlan<S>;
  const int lane = static_cast<int>(threadIdx.x % 32);
  for_each_values<S>(work, smem, [&](int stage, unsigned, int rows) {
    if (rows < S::kBlockN) {
      clear_values<S>(smem + Plan::value(stage), max(rows, 0), lane);
      __syncwarp();
    }
    if (lane == 0) {
      mbarrier_arrive(smem + Plan::ready_v(stage));
    }
  });
}

#endif
