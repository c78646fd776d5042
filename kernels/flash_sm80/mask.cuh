// Masks out keys past the end of the sequence, in causal problems keys after the query, and with a
// window keys too far from it.
#ifndef FATUNE_KERNELS_FLASH_SM80_MASK_CUH
#define FATUNE_KERNELS_FLASH_SM80_MASK_CUH

#include "common/ptx_math.cuh"
#include "flash_sm80/mma_tiles.cuh"

// Sets masked scores of one KV tile to minus infinity.
// shape:   rS [kWarpRows, kBlockN]; first_row: position of the lane's row (0, 0) among the keys;
//          first_key: position of the lane's first column; seq_len: keys
template <typename S>
__device__ __forceinline__ void mask_scores(ScoreFragment<S>& rS, int first_row, int first_key,
                                            int seq_len) {
#pragma unroll
  for (int m = 0; m < S::kRowTiles; ++m) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = first_row + 16 * m + i / 2 * 8;
      const int keys = kCausal       ? min(row + 1, seq_len)
                       : kWindow > 0 ? min(row + kWindow, seq_len)
                                     : seq_len;
#pragma unroll
      for (int n = 0; n < S::kKeyTiles; ++n) {
        const int key = first_key + 8 * n + i % 2;
        if (key >= keys || (kWindow > 0 && key <= row - kWindow)) {
          rS[m][n][i] = negative_infinity();
        }
      }
    }
  }
}

#endif
