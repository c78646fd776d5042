// What 8 bits cost: exact attention of the inputs before they are rounded to elements of 8 bits,
// and how far an output is from it.
#ifndef FATUNE_KERNELS_REFERENCE_UNROUNDED_ATTENTION_CUH
#define FATUNE_KERNELS_REFERENCE_UNROUNDED_ATTENTION_CUH

#include "reference/check_output.cuh"
#include "reference/reference_attention.cuh"

// As fatune_reference_attention(), of unrounded inputs, which are made again from the seed.
// `reference.rounded` is written too, and means nothing.
extern "C" __global__ void __launch_bounds__(kThreads)
    fatune_unrounded_attention(const __grid_constant__ UnroundedAttentionArgs args) {
  extern __shared__ __align__(16) unsigned char memory[];
  compute_references(args.reference, &args.inputs, memory);
}

// threads: all of the block
__device__ __forceinline__ void add_block(UnroundedCounts* total,
                                          const UnroundedCounts& block_counts) {
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(&total->squared_error, block_counts.squared_error);
    atomicAdd(&total->squared, block_counts.squared);
    max_unless_zero(&total->max_abs_error_bits, block_counts.max_abs_error_bits);
    add_unless_zero(&total->compared, block_counts.compared);
  }
}

// Compares the selected rows with `compare.exact`, which is of unrounded inputs. Values that are
// not finite are left out (fatune_scan_output finds them).
// shape:   grid (any); whole warps
extern "C" __global__ void fatune_compare_unrounded(
    const __grid_constant__ CompareUnroundedArgs args) {
  const auto* const output = static_cast<const Element*>(args.compare.output.data);
  double squared_error = 0.0, squared = 0.0;
  float max_error = 0.0f;
  unsigned compared = 0;
  static __shared__ UnroundedCounts counts;
  if (threadIdx.x == 0) {
    counts = UnroundedCounts{};
  }
  __syncthreads();
  const GridStride loop;
  for (unsigned long long i = loop.first; i < args.compare.elements; i += loop.step) {
    const Element element = output[selected_offset(args.compare, i)];
    if (is_finite(element)) {
      const float unit = unit_of(args.compare, i);
      const float exact = args.compare.exact[i] / unit;
      const float error = fabsf(element_value(element) / unit - exact);
      squared_error += static_cast<double>(error) * error;
      squared += static_cast<double>(exact) * exact;
      max_error = fmaxf(max_error, error);
      ++compared;
    }
  }
  __syncwarp();
  atomicAdd(&counts.squared_error, squared_error);
  atomicAdd(&counts.squared, squared);
  max_over_warp(&counts.max_abs_error_bits, max_error);
  add_over_warp(&counts.compared, compared);
  add_block(args.counts, counts);
}

#endif
