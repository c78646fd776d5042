// Outputs beside O that have one number for each row: log-sum-exp, maximum, sum. Their references,
// and the comparison.
#ifndef FATUNE_KERNELS_REFERENCE_ROW_VALUES_CUH
#define FATUNE_KERNELS_REFERENCE_ROW_VALUES_CUH

#include "common/ptx_math.cuh"
#include "reference/check_output.cuh"
#include "reference/reference_attention.cuh"

// `what` of RowValueArgs.
enum RowValueKind { kRowLogSumExp, kRowMaximum, kRowSum };

__device__ __forceinline__ float add_squares(unsigned pair, float sum) {
  const float low = element_value(static_cast<Element>(pair & 0xffffu));
  const float high = element_value(static_cast<Element>(pair >> 16));
  return fmaf(high, high, fmaf(low, low, sum));
}

// shape:   row: kHeadDim elements of 16 bits, 16-byte aligned
__device__ __forceinline__ float squared_norm(const Element* row) {
  const auto* const chunks = reinterpret_cast<const uint4*>(row);
  float sum = 0.0f;
  for (int i = 0; i < kHeadDim / 8; ++i) {
    const uint4 eight = chunks[i];
    sum = add_squares(eight.x, sum);
    sum = add_squares(eight.y, sum);
    sum = add_squares(eight.z, sum);
    sum = add_squares(eight.w, sum);
  }
  return sum;
}

#if FATUNE_KV_DTYPE != 0
// shape:   row: kHeadDim elements of 8 bits, 4-byte aligned
__device__ __forceinline__ float squared_norm(const KeyElement* row) {
  float sum = 0.0f;
  for (int i = 0; i < kHeadDim; i += 2) {
    const float2 two = eight_bit_values(*reinterpret_cast<const unsigned short*>(row + i));
    sum = fmaf(two.x, two.x, fmaf(two.y, two.y, sum));
  }
  return sum;
}
#endif

// The factor of the squared norm of what is stored in a row of Q. Rows are contiguous, in the order
// of the layout.
__device__ __forceinline__ float squared_query_scale(const NormArgs& args, unsigned long long row) {
  if constexpr (!kHasEightBitQueries) {
    return 1.0f;
  }
  const unsigned long long first = row * kHeadDim;
  const unsigned long long head = first / args.q.head_stride % args.q.heads;
  const unsigned long long position = first / args.q.row_stride % args.q.rows;
  const float scale = query_scale(args, static_cast<long long>(first / args.q.batch_stride),
                                  static_cast<int>(position), static_cast<long long>(head));
  return scale * scale;
}

// Greatest squared norms of the rows of Q and of what is stored in those of K: a thread takes a row
// at a time.
// shape:   grid (any, 2): y names the tensor; whole warps
extern "C" __global__ void fatune_greatest_norms(const __grid_constant__ NormArgs args) {
  float greatest = 0.0f;
  const GridStride loop;
  for (unsigned long long row = loop.first; row < args.rows[blockIdx.y]; row += loop.step) {
    const unsigned long long first = row * kHeadDim;
    const float norm = blockIdx.y == 0
                           ? squared_query_scale(args, row) *
                                 squared_norm(static_cast<const QueryElement*>(args.q.data) + first)
                           : squared_norm(static_cast<const KeyElement*>(args.k) + first);
    greatest = fmaxf(greatest, norm);
  }
  __syncwarp();
  max_over_warp(&args.norm_bits[blockIdx.y], greatest);
}

// shape:   as fatune_reference_attention
extern "C" __global__ void __launch_bounds__(kThreads)
    fatune_row_statistics(const __grid_constant__ RowStatisticsArgs args) {
  extern __shared__ __align__(16) unsigned char memory[];
  Reference block(args.reference, *reinterpret_cast<ReferenceShared*>(memory));
  block.load_queries();
  RowState exact[kRowsPerThread], rounded[kRowsPerThread];
  block.find_states(exact, rounded);
#pragma unroll
  for (int i = 0; i < kRowsPerThread; ++i) {
    const int row = block.first_row + i;
    if (block.lane == 0 && row < block.selected) {
      args.rows[block.selection_index(row)] = {
          exact[i].greatest, exact[i].sum > 0.0f ? logf(exact[i].sum) : negative_infinity()};
    }
  }
}

__device__ __forceinline__ float as_logarithm(int what, float value) {
  if (what != kRowSum) {
    return value;
  }
  return value == 0.0f ? negative_infinity() : logf(value);  // NaN below 0
}

__device__ __forceinline__ float reference_logarithm(int what, const RowSoftmax& row) {
  return what == kRowMaximum ? row.maximum
         : what == kRowSum   ? row.log_of_sum
                             : row.maximum + row.log_of_sum;
}

// NaN or plus infinity.
__device__ __forceinline__ bool is_no_logarithm(float value) {
  return !(value < -negative_infinity());
}

// The selected rows. threads: whole warps, converged
__device__ __forceinline__ void compare_row_values(const RowValueArgs& args) {
  float max_error = 0.0f;
  unsigned mismatched = 0, bad_reference = 0, compared = 0;
  const GridStride loop;
  for (unsigned long long i = loop.first; i < args.selected; i += loop.step) {
    const unsigned long long head = i / args.selection.rows_per_head;
    const float value =
        as_logarithm(args.what, args.values[head * args.rows + args.selection.rows[i]]);
    const float reference = reference_logarithm(args.what, args.reference[i]);
    const float error = fabsf(value - reference);
    ++compared;
    bad_reference += is_no_logarithm(reference);
    mismatched += !(value == reference || error <= args.limit);
    max_error = isfinite(value) && isfinite(reference) ? fmaxf(max_error, error) : max_error;
  }
  __syncwarp();
  max_over_warp(&args.counts->max_abs_error_bits, max_error);
  add_over_warp(&args.counts->mismatched, mismatched);
  add_over_warp(&args.counts->compared, compared);
  add_over_warp(&args.counts->bad_reference, bad_reference);
}

// The whole output: what was never written still has the NaN poison.
// threads: whole warps, converged
__device__ __forceinline__ void scan_row_values(const RowValueArgs& args) {
  unsigned not_finite = 0, none = 0, scanned = 0;
  const GridStride loop;
  for (unsigned long long i = loop.first; i < args.elements; i += loop.step) {
    const float value = as_logarithm(args.what, args.values[i]);
    not_finite += is_no_logarithm(value);
    none += value == negative_infinity();
    ++scanned;
  }
  __syncwarp();
  add_over_warp(&args.counts->not_finite, not_finite);
  add_over_warp(&args.counts->none, none);
  add_over_warp(&args.counts->scanned, scanned);
}

// shape:   grid (any); whole warps
extern "C" __global__ void fatune_check_row_values(const __grid_constant__ RowValueArgs args) {
  compare_row_values(args);
  scan_row_values(args);
}

#endif
