// O from registers to global memory, through the warp's own rows of sQ: 16-byte, coalesced stores.
// The log-sum-exp goes straight to global memory.
#ifndef FATUNE_KERNELS_FLASH_SM80_EPILOGUE_CUH
#define FATUNE_KERNELS_FLASH_SM80_EPILOGUE_CUH

#include "common/ptx_math.cuh"
#include "common/ptx_memory.cuh"
#include "flash_sm80/mma_tiles.cuh"
#include "flash_sm80/softmax.cuh"

// Rounds O to 16 bits and lays it out in shared memory like any tile.
// shape:   rO [kWarpRows, kHeadDim] fp32; sO: the warp's rows, [kWarpRows, kHeadDim]
// threads: one warp
// sync:    in: the warp is done reading these rows of sQ; out: visible after __syncwarp()
template <typename S>
__device__ __forceinline__ void stage_output(unsigned sO, const OutputFragment<S>& rO, int lane) {
#pragma unroll
  for (int m = 0; m < S::kRowTiles; ++m) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int row = 16 * m + 8 * h + lane / 4;
#pragma unroll
      for (int n = 0; n < S::kDimTiles; ++n) {
        st_shared_4(sO + chunk_offset<S>(row, n) + lane % 4 * 4,
                    cvt_rn_x2<S::kIsBf16>(rO[m][n][2 * h], rO[m][n][2 * h + 1]));
      }
    }
  }
}

// shape:   gO: first element of the warp's first row; rows_left: rows that exist from there on
// threads: one warp, converged
template <typename S>
__device__ __forceinline__ void store_output(unsigned short* gO, unsigned sO, int rows_left,
                                             int lane) {
  constexpr int kRowsPerPass = 32 / S::kChunksPerRow;
  constexpr bool kIdleLanes = 32 % S::kChunksPerRow != 0;  // 12 chunks: d_head 96
  const int chunk = lane % S::kChunksPerRow;
#pragma unroll
  for (int first = 0; first < S::kWarpRows; first += kRowsPerPass) {
    const int row = first + lane / S::kChunksPerRow;
    if ((!kRaggedQ || row < rows_left) && (!kIdleLanes || row < first + kRowsPerPass)) {
      st_global_16_no_l1(gO + static_cast<long long>(row) * kRowStride + 8 * chunk,
                         ld_shared_16(sO + chunk_offset<S>(row, chunk)));
    }
  }
}

// shape:   g_lse: of the warp's first row; rows_left, threads: as above; units: as log_sum_exp
template <typename S>
__device__ __forceinline__ void store_log_sum_exp(float* g_lse, const SoftmaxState<S>& state,
                                                  float unit_log2, int rows_left, int lane) {
#pragma unroll
  for (int m = 0; m < S::kRowTiles; ++m) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int row = 16 * m + 8 * h + lane / 4;
      const float lse = log_sum_exp<S>(state, m, h, unit_log2);
      if (lane % 4 == 0 && (!kRaggedQ || row < rows_left)) {
        g_lse[row] = lse;
      }
    }
  }
}

#endif
