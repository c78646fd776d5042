// The sinks of a tile's rows.
#ifndef FATUNE_KERNELS_FLASH_DECODE_ROW_SINK_CUH
#define FATUNE_KERNELS_FLASH_DECODE_ROW_SINK_CUH

#include "common/sink.cuh"
#include "flash_decode/kernel_args.cuh"
#include "flash_decode/part_schedule.cuh"

// The sink of the head of row `row` of the part's tile if the part has the first of the keys, else
// minus infinity: a row's parts have its sink once. Rows behind the last one have that of any head.
__device__ __forceinline__ float sink_of_row(const Work& work, const Part& part, int row) {
  const int packed = part.row_tile * work.tile_rows + row;
  const int of_group = max(0, packed - query_of(work, packed) * work.group);
  return part.index == 0 ? sink_of(work, part.head * work.group + of_group) : negative_infinity();
}

#endif
