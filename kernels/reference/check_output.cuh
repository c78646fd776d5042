// Compares a kernel's output with the references, and looks for what it left or wrote elsewhere.
#ifndef FATUNE_KERNELS_REFERENCE_CHECK_OUTPUT_CUH
#define FATUNE_KERNELS_REFERENCE_CHECK_OUTPUT_CUH

#include "reference/element.cuh"
#include "reference/grid_stride.cuh"
#include "reference/measurement_args.h"
#include "reference/outlier_inputs.h"

// threads: whole warps, converged
__device__ __forceinline__ void add_over_warp(unsigned long long* total, unsigned count) {
  count = __reduce_add_sync(0xffffffffu, count);
  if (threadIdx.x % 32 == 0 && count != 0) {
    atomicAdd(total, static_cast<unsigned long long>(count));
  }
}

// threads: whole warps, converged
__device__ __forceinline__ void add_over_warp(unsigned* total, unsigned count) {
  count = __reduce_add_sync(0xffffffffu, count);
  if (threadIdx.x % 32 == 0 && count != 0) {
    atomicAdd(total, count);
  }
}

// `value` >= 0. threads: whole warps, converged
__device__ __forceinline__ void max_over_warp(unsigned* greatest_bits, float value) {
  const unsigned bits = __reduce_max_sync(0xffffffffu, __float_as_uint(value));
  if (threadIdx.x % 32 == 0 && bits != 0) {
    atomicMax(greatest_bits, bits);
  }
}

// Counts start at 0, for the block to add to. threads: all of the block
__device__ __forceinline__ void clear_for_block(CheckCounts& block_counts) {
  if (threadIdx.x == 0) {
    block_counts = CheckCounts{};
  }
  __syncthreads();
}

template <typename Count>
__device__ __forceinline__ void add_unless_zero(Count* total, Count count) {
  if (count != 0) {
    atomicAdd(total, count);
  }
}

__device__ __forceinline__ void max_unless_zero(unsigned* greatest_bits, unsigned bits) {
  if (bits != 0) {
    atomicMax(greatest_bits, bits);
  }
}

// Adds a block's sum to that of all blocks: an atomic for each block, since those of every warp
// would take longer than reading the tensor. threads: all of the block
__device__ __forceinline__ void add_block(InputSum* total, const InputSum& block_sum) {
  __syncthreads();
  if (threadIdx.x == 0) {
    add_unless_zero(&total->plain, block_sum.plain);
    add_unless_zero(&total->mixed, block_sum.mixed);
  }
}

// Adds counts in the same way, except `inputs`. threads: all of the block
__device__ __forceinline__ void add_block(CheckCounts* total, const CheckCounts& block_counts) {
  __syncthreads();
  if (threadIdx.x == 0) {
    max_unless_zero(&total->max_abs_error_bits, block_counts.max_abs_error_bits);
    max_unless_zero(&total->max_abs_difference_bits, block_counts.max_abs_difference_bits);
    max_unless_zero(&total->max_abs_reference_error_bits,
                    block_counts.max_abs_reference_error_bits);
    max_unless_zero(&total->max_abs_reference_bits, block_counts.max_abs_reference_bits);
    add_unless_zero(&total->bad_reference, block_counts.bad_reference);
    add_unless_zero(&total->mismatched, block_counts.mismatched);
    add_unless_zero(&total->not_finite, block_counts.not_finite);
    add_unless_zero(&total->guard_bytes_changed, block_counts.guard_bytes_changed);
    add_unless_zero(&total->compared, block_counts.compared);
    add_unless_zero(&total->scanned, block_counts.scanned);
  }
}

// Where in the output an element of the selected rows is.
__device__ __forceinline__ unsigned long long selected_offset(const CompareArgs& args,
                                                              unsigned long long index) {
  const unsigned long long selected_row = index / kHeadDimV;
  const unsigned long long batch_head = selected_row / args.selection.rows_per_head;
  return row_offset(args.output, batch_head / args.output.heads, args.selection.rows[selected_row],
                    batch_head % args.output.heads) +
         index % kHeadDimV;
}

// What errors of an element of the selected rows are divided by.
__device__ __forceinline__ float unit_of(const CompareArgs& args, unsigned long long index) {
  return kHasEightBits && args.selection.has_outliers != 0
             ? outlier_unit(static_cast<int>(index % kHeadDimV))
             : 1.0f;
}

// Whether an element of the selected rows is beyond the tolerances. NaN is.
__device__ __forceinline__ bool mismatches(const CompareArgs& args, float value,
                                           unsigned long long index) {
  const float reference = element_value(static_cast<const Element*>(args.rounded)[index]);
  return !(fabsf(value - reference) <= args.atol + args.rtol * fabsf(reference));
}

// Errors of the selected rows. A value that is not finite mismatches, and counts for no maximum
// (fatune_scan_output finds it).
// shape:   grid (any); whole warps
extern "C" __global__ void fatune_compare_output(const __grid_constant__ CompareArgs args) {
  const auto* const output = static_cast<const Element*>(args.output.data);
  const auto* const rounded = static_cast<const Element*>(args.rounded);
  float max_error = 0.0f, max_difference = 0.0f, max_reference_error = 0.0f, max_reference = 0.0f;
  unsigned mismatched = 0, bad_reference = 0, compared = 0;
  static __shared__ CheckCounts counts;
  clear_for_block(counts);
  const GridStride loop;
  for (unsigned long long i = loop.first; i < args.elements; i += loop.step) {
    const Element element = output[selected_offset(args, i)];
    const float unit = unit_of(args, i);
    const float value = element_value(element) / unit;
    const float exact = args.exact[i] / unit;
    const float reference = element_value(rounded[i]) / unit;
    ++compared;
    bad_reference += !isfinite(exact) || !isfinite(reference);
    max_reference_error = fmaxf(max_reference_error, fabsf(reference - exact));
    max_reference = fmaxf(max_reference, fabsf(exact));
    if (is_finite(element)) {
      max_error = fmaxf(max_error, fabsf(value - exact));
      max_difference = fmaxf(max_difference, fabsf(value - reference));
    }
    mismatched += mismatches(args, element_value(element), i);
  }
  __syncwarp();
  max_over_warp(&counts.max_abs_error_bits, max_error);
  max_over_warp(&counts.max_abs_difference_bits, max_difference);
  max_over_warp(&counts.max_abs_reference_error_bits, max_reference_error);
  max_over_warp(&counts.max_abs_reference_bits, max_reference);
  add_over_warp(&counts.mismatched, mismatched);
  add_over_warp(&counts.compared, compared);
  add_over_warp(&counts.bad_reference, bad_reference);
  add_block(args.counts, counts);
}

__device__ __forceinline__ unsigned count_not_finite(unsigned pair) {
  return static_cast<unsigned>(!is_finite(static_cast<Element>(pair & 0xffffu))) +
         static_cast<unsigned>(!is_finite(static_cast<Element>(pair >> 16)));
}

// Counts NaN and infinity in a whole tensor: what was never written still has the NaN poison.
// shape:   grid (any); whole warps; `chunks` of 8 elements
extern "C" __global__ void fatune_scan_output(const uint4* output, unsigned long long chunks,
                                              CheckCounts* counts) {
  unsigned found = 0, scanned = 0;
  static __shared__ CheckCounts block_counts;
  clear_for_block(block_counts);
  const GridStride loop;
  for (unsigned long long i = loop.first; i < chunks; i += loop.step) {
    const uint4 eight = output[i];
    found += count_not_finite(eight.x) + count_not_finite(eight.y) + count_not_finite(eight.z) +
             count_not_finite(eight.w);
    scanned += 8;
  }
  __syncwarp();
  add_over_warp(&block_counts.not_finite, found);
  add_over_warp(&block_counts.scanned, scanned);
  add_block(counts, block_counts);
}

// `position`: of the word among all words of Q, K and V.
__device__ __forceinline__ void add_word(InputSum& sum, unsigned word,
                                         unsigned long long position) {
  constexpr unsigned kGoldenRatio = 0x9e3779b9u;
  const auto index = static_cast<unsigned>(position ^ position >> 31);
  sum.plain += word * (2 * index + 1);
  sum.mixed += word * (index * kGoldenRatio | 1u);
}

// Adds up Q, K and V.
// shape:   grid (any, 3): y names the tensor; whole warps
extern "C" __global__ void fatune_sum_inputs(const __grid_constant__ InputSumArgs args) {
  const auto* const tensor =
      static_cast<const uint4*>(blockIdx.y == 0 ? args.q : (blockIdx.y == 1 ? args.k : args.v));
  const unsigned long long chunks = args.bytes[blockIdx.y] / 16;
  const unsigned long long chunks_before =
      (blockIdx.y > 0 ? args.bytes[0] / 16 : 0) + (blockIdx.y > 1 ? args.bytes[1] / 16 : 0);
  InputSum sum{0, 0};
  static __shared__ InputSum block_sum;
  if (threadIdx.x == 0) {
    block_sum = InputSum{0, 0};
  }
  __syncthreads();
  const GridStride loop;
  for (unsigned long long i = loop.first; i < chunks; i += loop.step) {
    const uint4 words = tensor[i];
    const unsigned long long position = 4 * (chunks_before + i);
    add_word(sum, words.x, position);
    add_word(sum, words.y, position + 1);
    add_word(sum, words.z, position + 2);
    add_word(sum, words.w, position + 3);
  }
  __syncwarp();
  add_over_warp(&block_sum.plain, sum.plain);
  add_over_warp(&block_sum.mixed, sum.mixed);
  add_block(args.sum, block_sum);
}

// Counts the bytes of the guard bands that no longer hold the poison.
// shape:   grid (any, bands); whole warps
extern "C" __global__ void fatune_check_guards(const __grid_constant__ GuardArgs args,
                                               CheckCounts* counts) {
  const GuardBand band = args.bands[blockIdx.y];
  unsigned changed = 0;
  static __shared__ CheckCounts block_counts;
  clear_for_block(block_counts);
  const GridStride loop;
  for (unsigned long long i = band.begin / 4 + loop.first; i < band.end / 4; i += loop.step) {
    const unsigned difference = args.arena[i] ^ args.poison;
    changed += ((difference & 0xffu) != 0) + ((difference & 0xff00u) != 0) +
               ((difference & 0xff0000u) != 0) + ((difference & 0xff000000u) != 0);
  }
  __syncwarp();
  add_over_warp(&block_counts.guard_bytes_changed, changed);
  add_block(counts, block_counts);
}

#endif
