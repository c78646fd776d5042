// Scores of a warp's own rows by warp-level products, for a warp that needs them once more.
#ifndef FATUNE_KERNELS_FLASH_SM90_WARP_SCORES_CUH
#define FATUNE_KERNELS_FLASH_SM90_WARP_SCORES_CUH

#include "common/ptx_mma.cuh"
#include "common/ptx_mma_fp8.cuh"
#include "flash_sm90/smem_plan.cuh"

// Computes S = Q K^T of a step for the 16 rows of a warp, in wgmma's layout.
// shape:   query: the consumer's rows, [panels][64][64]; key: a tile of K, [panels][kBlockN][64];
//          warp: index in the consumer
// threads: one warp, converged; sync: all its threads have waited for both tiles
template <typename S>
__device__ __forceinline__ void warp_scores(float (&s)[S::kScores], unsigned query, unsigned key,
                                            int warp, int lane) {
  using Plan = SmemPlan<S>;
  // Makes the compiler compute addresses here, and not before the steps, which need the registers.
  asm volatile("" : "+r"(lane), "+r"(warp));
  const int row = 16 * warp + lane % 16;         // of Q that this lane names
  const int key_row = lane % 8 + lane / 16 * 8;  // of 16 of K
#pragma unroll
  for (int i = 0; i < S::kScores; ++i) {
    s[i] = 0.0f;
  }
#pragma unroll 1
  for (int step = 0; step < S::kScoreDepth / S::kDepth; ++step) {
    const int panel = step / 4;
    const int chunk = step % 4 * 2;  // an instruction's columns are two chunks
    unsigned q[4];
    ldmatrix_x4(q, query + panel * Plan::kPanelBytesQ + row * Plan::kLineBytes +
                       16 * ((chunk + lane / 16) ^ row % 8));
    const unsigned keys = key + panel * Plan::kPanelBytesKv + key_row * Plan::kLineBytes +
                          16 * ((chunk + lane / 8 % 2) ^ key_row % 8);
#pragma unroll
    for (int at = 0; at < S::kBlockN; at += 16) {
      unsigned k[4];
      ldmatrix_x4(k, keys + at * Plan::kLineBytes);
      auto& first = reinterpret_cast<float(&)[4]>(s[at / 2]);
      auto& second = reinterpret_cast<float(&)[4]>(s[at / 2 + 4]);
      if constexpr (kEightBits) {
        mma_m16n8k32_e4m3(first, q, k[0], k[1]);
        mma_m16n8k32_e4m3(second, q, k[2], k[3]);
      } else {
        mma_m16n8k16<S::kIsBf16>(first, q, k[0], k[1]);
        mma_m16n8k16<S::kIsBf16>(second, q, k[2], k[3]);
      }
    }
  }
}

#endif
