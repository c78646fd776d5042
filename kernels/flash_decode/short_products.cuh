// The two products of a short consumer, with K and V read from shared memory by the tensor cores.
#ifndef FATUNE_KERNELS_FLASH_DECODE_SHORT_PRODUCTS_CUH
#define FATUNE_KERNELS_FLASH_DECODE_SHORT_PRODUCTS_CUH

#include "common/ptx_barrier.cuh"
#include "common/ptx_wgmma.cuh"
#include "flash_decode/config.cuh"
#include "flash_decode/products.cuh"
#include "flash_decode/sums.cuh"
#include "flash_decode/tile_layout.cuh"

// S^T of a thread: of each 64 keys of a step.
template <typename S>
using ShortScores = float[S::kKeyTiles][S::kScores];

// Waits for all products, and frees the tile of K or V that they have read.
// shape:   sums: of these products; full: the tile's mbarrier
// threads: one warp
template <typename S, int kTiles, int kCount>
__device__ __forceinline__ void await_products(float (&sums)[kTiles][kCount], unsigned smem,
                                               unsigned full, int lane) {
  wgmma_wait<0>();
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile) {
    after_wait(sums[tile]);
  }
  if (lane == 0) {
    mbarrier_arrive(smem + SmemPlan<S>::empty(full));
  }
}

// threads: the warpgroup, converged, in all functions
template <typename S>
class ShortProducts {
 public:
  using Plan = SmemPlan<S>;
  using Layout = TileLayout<S>;
  using Scores = ShortScores<S>;

  __device__ __forceinline__ ShortProducts(unsigned smem, int lane) : smem_(smem), lane_(lane) {}

  // What a part's tile of Q needs before its first product: nothing. Returns the unit of its
  // elements.
  __device__ __forceinline__ float begin(unsigned) const { return 1.0f; }

  // What a step's products need before they start: nothing.
  __device__ __forceinline__ void prepare_keys(Ring<S::kStages>) const {}
  __device__ __forceinline__ void prepare_values(Ring<S::kStages>) const {}

  // S^T = K Q^T of a step. sQ: the tile of Q
  __device__ __forceinline__ void scores(Scores& s, unsigned sQ, Ring<S::kStages> stage) const {
    mbarrier_wait(smem_ + Plan::full_k(stage.index), stage.parity);
    const unsigned long long k =
        swizzled_descriptor<Layout::kEightKeysBytes>(smem_ + Plan::key(stage.index), 0);
    const unsigned long long q = swizzled_descriptor(sQ, 0);
    wgmma_fence();
#pragma unroll
    for (int m = 0; m < S::kKeyTiles; ++m) {
#pragma unroll
      for (int at = 0; at < S::kHeadDim / 16; ++at) {
        const int within = at % 4 * (32 / 16);  // 16 columns are 32 bytes
        product<S::kIsBf16, S::kRows, false>(s[m],
                                             k + at / 4 * (Layout::kPanelBytes / 16) +
                                                 m * (8 * Layout::kEightKeysBytes / 16) + within,
                                             q + at / 4 * (Plan::kPanelBytesQ / 16) + within,
                                             at > 0 ? 1 : 0);
      }
    }
    wgmma_commit();
    await_products<S>(s, smem_, Plan::full_k(stage.index), lane_);
  }

  // O^T += V^T P^T of a step. sync: in: P is there
  __device__ __forceinline__ void accumulate(ShortSums<S>& sums, Ring<S::kStages> stage,
                                             bool) const {
    mbarrier_wait(smem_ + Plan::full_v(stage.index), stage.parity);
    const unsigned long long v =
        swizzled_descriptor<Layout::kEightKeysBytes>(smem_ + Plan::value(stage.index), 0);
    const unsigned long long p = swizzled_descriptor(smem_ + Plan::kP, 0);
    wgmma_fence();
#pragma unroll
    for (int at = 0; at < S::kStepKeys / 16; ++at) {
#pragma unroll
      for (int panel = 0; panel < S::kPanels; ++panel) {
        product<S::kIsBf16, S::kRows, true>(
            sums.o[panel],
            v + panel * (Layout::kPanelBytes / 16) + at * (2 * Layout::kEightKeysBytes / 16),
            p + at / 4 * (Plan::kPanelBytesQ / 16) + at % 4 * (32 / 16), 1);
      }
    }
    wgmma_commit();
    await_products<S>(sums.o, smem_, Plan::full_v(stage.index), lane_);
  }

 private:
  const unsigned smem_;
  int lane_;
};

#endif
