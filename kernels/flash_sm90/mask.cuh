// Masks out keys past the end of the sequence, in causal problems keys after the query, and with a
// window keys too far from it.
#ifndef FATUNE_KERNELS_FLASH_SM90_MASK_CUH
#define FATUNE_KERNELS_FLASH_SM90_MASK_CUH

#include "common/ptx_math.cuh"
#include "flash_sm90/config.cuh"

// Returns whether any of a step's first kKeys keys is masked for any row of a consumer.
// shape: position: where the consumer's first query stands among the keys; keys: seq_len_kv
template <int kKeys, typename S>
__device__ __forceinline__ bool step_is_masked(int step, int position, int keys) {
  const int first_key = step * S::kBlockN;
  const bool past_query = (kCausal || kWindow > 0) && first_key + kKeys - 1 > position + kKeysAfter;
  const bool past_end = kRaggedKv && first_key + kKeys > keys;
  const bool before_window = kWindow > 0 && first_key <= position + S::kGroupQueries - 1 - kWindow;
  return past_query || past_end || before_window;
}

// Sets masked scores among those of a step's first kKeys keys to minus infinity.
// shape: position: where this thread's first row stands among the keys; row: its number in the
//        consumer; first_key: of its columns
template <int kKeys, typename S>
__device__ __forceinline__ void mask_scores(float (&s)[S::kScores], int position, int row,
                                            int first_key, int keys) {
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int at = position + queries_between(row, row + 8 * h);
    const int end = (kCausal || kWindow > 0 ? min(at + kKeysAfter + 1, keys) : keys) - first_key;
    const int begin = at - kWindow + 1 - first_key;
#pragma unroll
    for (int i = 2 * h; i < kKeys / 2; i += 4) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int column = 8 * (i / 4) + j;
        if (column >= end || (kWindow > 0 && column < begin)) {
          s[i + j] = negative_infinity();
        }
      }
    }
  }
}

#endif
