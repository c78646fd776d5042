// Which keys a row sees.
#ifndef FATUNE_KERNELS_FLASH_DECODE_SEEN_KEYS_CUH
#define FATUNE_KERNELS_FLASH_DECODE_SEEN_KEYS_CUH

#include "flash_decode/kernel_args.cuh"
#include "flash_decode/part_schedule.cuh"

struct KeyRange {
  int begin, end;
};

// Keys that row `row` of the part's tile sees. The last query stands at the last key.
__device__ __forceinline__ KeyRange seen_keys(const Work& work, const Part& part, int row) {
  const int query = query_of(work, part.row_tile * work.tile_rows + row);
  const int position = query + part.keys - work.seq_len;
  const int after = work.causal != 0  ? position + 1
                    : work.window > 0 ? position + work.window
                                      : part.keys;
  return {work.window > 0 ? position - work.window + 1 : 0, min(part.keys, after)};
}

// Whether some row of the tile does not see all of the `count` keys from `first` on. With a window
// the answer may be true where all do.
__device__ __forceinline__ bool needs_mask(const Work& work, const Part& part, int first,
                                           int count) {
  return work.window > 0 || first + count > seen_keys(work, part, 0).end;
}

#endif
