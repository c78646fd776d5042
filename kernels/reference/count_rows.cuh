// Which rows of a kernel's output are not as they should be: for 'check --diff'.
#ifndef FATUNE_KERNELS_REFERENCE_COUNT_ROWS_CUH
#define FATUNE_KERNELS_REFERENCE_COUNT_ROWS_CUH

#include "reference/check_output.cuh"

// Further than `limit` from one of the references. NaN is.
__device__ __forceinline__ bool is_beyond(const CountRowsArgs& args, float value,
                                          unsigned long long index) {
  const float reference = element_value(static_cast<const Element*>(args.compare.rounded)[index]);
  const float limit = args.limit * unit_of(args.compare, index);
  return !(fabsf(value - args.compare.exact[index]) <= limit && fabsf(value - reference) <= limit);
}

// Counts for every selected row its elements that mismatch, and those beyond the limit.
// shape:   grid (any); whole warps, each a row at a time
extern "C" __global__ void fatune_count_rows(const __grid_constant__ CountRowsArgs args) {
  const auto* const output = static_cast<const Element*>(args.compare.output.data);
  const GridStride loop;
  for (unsigned long long row = loop.first / 32; row < args.compare.elements / kHeadDimV;
       row += loop.step / 32) {
    unsigned mismatched = 0, beyond_limit = 0;
    for (int dim = static_cast<int>(threadIdx.x % 32); dim < kHeadDimV; dim += 32) {
      const unsigned long long index = row * kHeadDimV + dim;
      const float value = element_value(output[selected_offset(args.compare, index)]);
      mismatched += mismatches(args.compare, value, index);
      beyond_limit += is_beyond(args, value, index);
    }
    __syncwarp();
    mismatched = __reduce_add_sync(0xffffffffu, mismatched);
    beyond_limit = __reduce_add_sync(0xffffffffu, beyond_limit);
    if (threadIdx.x % 32 == 0) {
      args.rows[row] = {mismatched, beyond_limit};
    }
  }
}

#endif
