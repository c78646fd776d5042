// The problem's element type and head dimensions, from the compiler's defines.
#ifndef FATUNE_KERNELS_REFERENCE_ELEMENT_CUH
#define FATUNE_KERNELS_REFERENCE_ELEMENT_CUH

#include "common/ptx_convert.cuh"
#include "common/ptx_fp8.cuh"
#include "reference/measurement_args.h"

using Element = unsigned short;

#ifndef FATUNE_KV_DTYPE
#define FATUNE_KV_DTYPE 0
#endif
#ifndef FATUNE_EIGHT_BIT_QUERIES
#define FATUNE_EIGHT_BIT_QUERIES 0
#endif

inline constexpr bool kIsBf16 = FATUNE_IS_BF16;
inline constexpr bool kHasEightBits = FATUNE_KV_DTYPE != 0;
inline constexpr bool kIsE4m3 = FATUNE_KV_DTYPE == 24;
inline constexpr bool kHasEightBitQueries = FATUNE_EIGHT_BIT_QUERIES != 0;

// An element of K and V.
#if FATUNE_KV_DTYPE != 0
using KeyElement = unsigned char;
#else
using KeyElement = Element;
#endif
// An element of Q.
#if FATUNE_EIGHT_BIT_QUERIES != 0
using QueryElement = KeyElement;
#else
using QueryElement = Element;
#endif
inline constexpr int kHeadDim = FATUNE_HEAD_DIM;     // head dimension of Q and K
inline constexpr int kHeadDimV = FATUNE_HEAD_DIM_V;  // head dimension of V and O
// All exponent bits set: infinity or NaN.
inline constexpr unsigned kExponentMask = kIsBf16 ? 0x7f80u : 0x7c00u;

static_assert(!kHasEightBitQueries || kIsE4m3, "Q of 8 bits has the type of K and V, e4m3");
static_assert(kHeadDim % 8 == 0 && kHeadDimV % 8 == 0, "rows are read 16 bytes at a time");

__device__ __forceinline__ float element_value(Element element) {
  return cvt_f32<kIsBf16>(element);
}
__device__ __forceinline__ Element round_element(float value) { return cvt_rn<kIsBf16>(value); }
#if FATUNE_KV_DTYPE != 0
// The two nearest elements of 8 bits, ties to even; the greatest one in place of what is beyond it.
__device__ __forceinline__ unsigned short round_eight_bits(float low, float high) {
  return cvt_rn_satfinite_x2<kIsE4m3>(low, high);
}
// Two elements of 8 bits as fp32; the lower one is .x.
__device__ __forceinline__ float2 eight_bit_values(unsigned pair) {
  const unsigned halves = cvt_f16x2<kIsE4m3>(static_cast<unsigned short>(pair));
  return make_float2(cvt_f32<false>(static_cast<unsigned short>(halves & 0xffffu)),
                     cvt_f32<false>(static_cast<unsigned short>(halves >> 16)));
}
#endif

__device__ __forceinline__ bool is_finite(Element element) {
  return (element & kExponentMask) != kExponentMask;
}

// Where a row's first element is, in elements.
__device__ __forceinline__ long long row_offset(const TensorView& tensor, long long batch,
                                                long long row, long long head) {
  return batch * tensor.batch_stride + row * tensor.row_stride + head * tensor.head_stride;
}

// Returns the sequence that a row belongs to: the last one that begins there or before.
// shape: starts: [sequences + 1], as in PackedRows; 0 <= row < starts[sequences]
__device__ __forceinline__ int sequence_at(const int* starts, int sequences, int row) {
  int first = 0;
  int end = sequences;
  while (end - first > 1) {
    const int middle = (first + end) / 2;
    (starts[middle] <= row ? first : end) = middle;
  }
  return first;
}

// Where a key's row of K or V is, in elements, by the arguments of filling or of the reference.
// shape: key: of the batch; where sequences are packed, of all of them, one after the other
template <typename Args>
__device__ __forceinline__ long long key_offset(const Args& args, const TensorView& tensor,
                                                long long batch, int key, long long head) {
  const KeyPages& pages = args.pages;
  if (pages.table == nullptr) {
    return row_offset(tensor, batch, key, head);
  }
  if (args.packed.keys != nullptr) {
    batch = sequence_at(args.packed.keys, args.packed.sequences, key);
    key -= args.packed.keys[batch];
  }
  const int entry = key / pages.page_size;
  return row_offset(tensor, pages.table[batch * pages.pages_of_sequence + entry],
                    key - entry * pages.page_size, head);
}

// Where the scale of a row's block is.
// shape: starts: of the packed sequences' rows, or null; row: as key_offset()
template <typename Args>
__device__ __forceinline__ long long block_offset(const Args& args, const TensorView& scales,
                                                  const int* starts, long long batch, int row,
                                                  long long head) {
  if (starts != nullptr) {
    batch = sequence_at(starts, args.packed.sequences, row);
    row -= starts[batch];
  }
  return row_offset(scales, batch, row / args.scales.block, head);
}

// Where the scale of a key's row of K or V is.
// shape: as key_offset(); scales: of args
template <typename Args>
__device__ __forceinline__ float* key_scale_address(const Args& args, const TensorView& scales,
                                                    long long batch, int key, long long head) {
  const long long at = args.scales.block > 0
                           ? block_offset(args, scales, args.packed.keys, batch, key, head)
                           : key_offset(args, scales, batch, key, head);
  return static_cast<float*>(scales.data) + at;
}
// The scale of a key's row of K or V: what is stored there is multiplied by it.
template <typename Args>
__device__ __forceinline__ float key_scale(const Args& args, const TensorView& scales,
                                           long long batch, int key, long long head) {
  if constexpr (!kHasEightBits) {
    return 1.0f;
  }
  return *key_scale_address(args, scales, batch, key, head);
}

// Where the scale of a row of Q is.
// shape: row: of the batch; where sequences are packed, of all of them, one after the other
template <typename Args>
__device__ __forceinline__ float* query_scale_address(const Args& args, long long batch, int row,
                                                      long long head) {
  const TensorView& scales = args.scales.q;
  const long long at = args.scales.block > 0
                           ? block_offset(args, scales, args.packed.queries, batch, row, head)
                           : row_offset(scales, batch, row, head);
  return static_cast<float*>(scales.data) + at;
}
// The scale of a row of Q.
template <typename Args>
__device__ __forceinline__ float query_scale(const Args& args, long long batch, int row,
                                             long long head) {
  if constexpr (!kHasEightBitQueries) {
    return 1.0f;
  }
  return *query_scale_address(args, batch, row, head);
}

// Whether keys, or pages of them, have scales of their own.
// shape: scales: of K or of V
__device__ __forceinline__ bool keys_have_scales(const InputScales& of, const TensorView& scales) {
  return kHasEightBits && of.block == 0 && scales.batch_stride != 0;
}

// The significand of a normal number > 0, from 1 to below 2.
__device__ __forceinline__ float significand_of(float value) {
  return __uint_as_float((__float_as_uint(value) & 0x007fffffu) | 0x3f800000u);
}

// How many queries and keys a sequence has, by the arguments of filling or of the reference.
template <typename Args>
__device__ __forceinline__ int queries_of(const Args& args, int sequence) {
  const int* const starts = args.packed.queries;
  return starts == nullptr ? args.q.rows : starts[sequence + 1] - starts[sequence];
}
template <typename Args>
__device__ __forceinline__ int keys_of(const Args& args, int sequence) {
  const int* const starts = args.packed.keys;
  if (starts != nullptr) {
    return starts[sequence + 1] - starts[sequence];
  }
  return args.keys == nullptr ? args.k.rows : args.keys[sequence];
}

#endif
