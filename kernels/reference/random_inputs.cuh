// Q, K and V for verification and timing, made from a seed.
#ifndef FATUNE_KERNELS_REFERENCE_RANDOM_INPUTS_CUH
#define FATUNE_KERNELS_REFERENCE_RANDOM_INPUTS_CUH

#include "reference/element.cuh"
#include "reference/extreme_inputs.h"
#include "reference/measurement_args.h"
#include "reference/outlier_inputs.h"
#include "reference/philox.cuh"

// src/model/input_kind.hpp has the same values.
enum InputKind : int {
  kNormal = 0,
  kLargeLogits = 1,
  kDominatingKey = 2,
  kExtremeScores = 3,
  kLargeValues = 4,
  kOutliers = 5  // where K and V have 8 bits
};
// Streams of random numbers: the tensors, numbered as in outlier_inputs.h, then what the
// dominating key needs.
enum RandomStream : unsigned { kQuery = 0, kKey = 1, kValue = 2, kDirection = 3, kPosition = 4 };

// Logits of normal inputs have standard deviation 1: with this factor 30 is 4.3 deviations out,
// which some reach in any tensor of more than a few tiles.
inline constexpr float kLargeLogitsFactor = 7.0f;
// Mean logit of the dominating key. The others together weigh about as much as one logit of
// log(seq_len) + 1 (10.7 at 16384), so that the key takes nearly all weight and they still show.
inline constexpr float kDominatingLogit = 16.0f;

__device__ __forceinline__ uint4 random_bits(const FillInputsArgs& args, RandomStream stream,
                                             unsigned long long index) {
  return philox4x32(make_uint4(static_cast<unsigned>(index), static_cast<unsigned>(index >> 32),
                               stream, static_cast<unsigned>(args.kind)),
                    args.seed);
}

// In the functions below, a batch is a sequence, and rows are counted from its first one, also
// where the batch is packed: see in_sequence().

// Which key of a (batch, head of K) is the dominating one.
__device__ __forceinline__ int dominating_position(const FillInputsArgs& args,
                                                   unsigned long long head) {
  const int keys = keys_of(args, static_cast<int>(head / args.k.heads));
  return static_cast<int>(
      __umulhi(random_bits(args, kPosition, head).x, static_cast<unsigned>(keys)));
}

// +1 or -1 for four neighbouring dimensions: the direction that all queries of a head of K
// share and that its dominating key points in.
__device__ __forceinline__ float4 shared_direction(const FillInputsArgs& args,
                                                   unsigned long long head, int dim) {
  const uint4 bits = random_bits(args, kDirection, (head * kHeadDim + dim) / 4);
  const auto sign = [](unsigned word) { return (word & 1u) != 0 ? 1.0f : -1.0f; };
  return make_float4(sign(bits.x), sign(bits.y), sign(bits.z), sign(bits.w));
}

// An element's place: four neighbouring ones of a row of a tensor.
struct Place {
  unsigned long long group;  // index of the four, in the order (batch, row, head, column)
  int batch, row, head, column;

  __device__ __forceinline__ Place(const TensorView& tensor, unsigned long long index)
      : group(index) {
    const auto groups = static_cast<unsigned>(tensor.columns / 4);
    const unsigned long long row_of_head = index / groups;
    const unsigned long long position = row_of_head / tensor.heads;
    column = static_cast<int>(index % groups) * 4;
    head = static_cast<int>(row_of_head % tensor.heads);
    row = static_cast<int>(position % tensor.rows);
    batch = static_cast<int>(position / tensor.rows);
  }
};

// The place with the sequence in place of the batch, and the row within the sequence.
__device__ __forceinline__ Place in_sequence(const FillInputsArgs& args, RandomStream tensor,
                                             Place at) {
  const int* const starts = tensor == kQuery ? args.packed.queries : args.packed.keys;
  if (starts != nullptr) {
    at.batch = sequence_at(starts, args.packed.sequences, at.row);
    at.row -= starts[at.batch];
  }
  return at;
}

__device__ __forceinline__ const TensorView& tensor_of(const FillInputsArgs& args,
                                                       RandomStream tensor) {
  return tensor == kQuery ? args.q : (tensor == kKey ? args.k : args.v);
}

__device__ __forceinline__ float4 scaled(float factor, float4 x) {
  return make_float4(x.x * factor, x.y * factor, x.z * factor, x.w * factor);
}

// Which (batch, head of K) a place in Q or K belongs to.
__device__ __forceinline__ unsigned long long key_head(const FillInputsArgs& args,
                                                       RandomStream tensor, const Place& at) {
  const int group_size = args.q.heads / args.k.heads;
  const int head = tensor == kQuery ? at.head / group_size : at.head;
  return static_cast<unsigned long long>(at.batch) * args.k.heads + head;
}

// `normal`: what the same elements of a normal input are.
__device__ __forceinline__ float4 dominating_values(const FillInputsArgs& args, RandomStream tensor,
                                                    const Place& at, float4 normal) {
  const unsigned long long head = key_head(args, tensor, at);
  const float4 direction = shared_direction(args, head, at.column);
  if (tensor == kQuery) {
    return make_float4(normal.x + direction.x, normal.y + direction.y, normal.z + direction.z,
                       normal.w + direction.w);
  }
  // Queries are normal + direction, so q . direction is about d_head and the logit, with the
  // softmax scale 1 / sqrt(d_head), about length * sqrt(d_head).
  return at.row == dominating_position(args, head)
             ? scaled(kDominatingLogit * rsqrtf(static_cast<float>(kHeadDim)), direction)
             : normal;
}

// The four values of an input with extreme scores, in Q or K.
__device__ __forceinline__ float4 extreme_values(const FillInputsArgs& args, RandomStream tensor,
                                                 const Place& at, float4 normal) {
  const unsigned long long head = key_head(args, tensor, at);
  const bool is_key = tensor == kKey;
  const int keys = keys_of(args, at.batch);
  if (is_key && !is_extreme_key(at.row, keys, dominating_position(args, head))) {
    return normal;
  }
  const float length = is_key ? kExtremeScore * rsqrtf(static_cast<float>(kHeadDim)) : 1.0f;
  const auto along = [&](int dim) {
    return length * (is_key ? extreme_key(at.row, keys, dim)
                            : extreme_query(at.row, queries_of(args, at.batch), dim));
  };
  const float4 sign = shared_direction(args, head, at.column);
  return make_float4(sign.x * along(at.column), sign.y * along(at.column + 1),
                     sign.z * along(at.column + 2), sign.w * along(at.column + 3));
}

__device__ __forceinline__ float4 large_values(float4 normal) {
  return make_float4(large_value(normal.x, kIsBf16), large_value(normal.y, kIsBf16),
                     large_value(normal.z, kIsBf16), large_value(normal.w, kIsBf16));
}

__device__ __forceinline__ float4 outlier_values(RandomStream tensor, int column, float4 normal) {
  return make_float4(
      normal.x * outlier_factor(tensor, column), normal.y * outlier_factor(tensor, column + 1),
      normal.z * outlier_factor(tensor, column + 2), normal.w * outlier_factor(tensor, column + 3));
}

// Four inputs before they are rounded to elements.
// shape: at: in_sequence()
__device__ __forceinline__ float4 input_values(const FillInputsArgs& args, RandomStream tensor,
                                               const Place& at) {
  const uint4 bits = random_bits(args, tensor, at.group);
  const float2 low = normal_pair(bits.x, bits.y);
  const float2 high = normal_pair(bits.z, bits.w);
  const float4 values = make_float4(low.x, low.y, high.x, high.y);
  if (kHasEightBits && args.kind == kOutliers) {
    return outlier_values(tensor, at.column, values);
  }
  if (tensor == kValue) {
    return args.kind == kLargeValues ? large_values(values) : values;
  }
  switch (args.kind) {
    case kLargeLogits:
      return tensor == kQuery ? scaled(kLargeLogitsFactor, values) : values;
    case kDominatingKey:
      return dominating_values(args, tensor, at, values);
    case kExtremeScores:
      return extreme_values(args, tensor, at, values);
    default:
      return values;
  }
}

// The four inputs of a row that begin at `column`, before they are rounded to elements.
// shape: batch, row: of the tensor's view
__device__ __forceinline__ float4 input_values(const FillInputsArgs& args, RandomStream tensor,
                                               long long batch, int row, int head, int column) {
  const TensorView& view = tensor_of(args, tensor);
  const auto position = static_cast<unsigned long long>(batch) * view.rows + row;
  const Place at(view, (position * view.heads + head) * (view.columns / 4) + column / 4);
  return input_values(args, tensor, in_sequence(args, tensor, at));
}

// Where the scale of a place in a tensor of 8 bits is.
__device__ __forceinline__ float* scale_address(const FillInputsArgs& args, RandomStream tensor,
                                                const Place& at) {
  if (tensor == kQuery) {
    return query_scale_address(args, at.batch, at.row, at.head);
  }
  return key_scale_address(args, tensor == kKey ? args.scales.k : args.scales.v, at.batch, at.row,
                           at.head);
}

#if FATUNE_KV_DTYPE != 0
__device__ __forceinline__ float greatest_magnitude(float4 x) {
  return fmaxf(fmaxf(fabsf(x.x), fabsf(x.y)), fmaxf(fabsf(x.z), fabsf(x.w)));
}

// Raises the scale of four values to the one that fits them. The bits of positive numbers have
// their order. Nearly all values find a scale that is great enough, and do without the atomic.
__device__ __forceinline__ void raise_scale(float* scale, float4 values) {
  auto* const bits = reinterpret_cast<unsigned*>(scale);
  const unsigned needed = __float_as_uint(fitted_scale(greatest_magnitude(values), kIsE4m3));
  if (*const_cast<volatile unsigned*>(bits) < needed) {
    atomicMax(bits, needed);
  }
}

// Stores four values of a tensor of 8 bits at an index, or fits their scale.
__device__ __forceinline__ void store_scaled(const FillInputsArgs& args, RandomStream tensor,
                                             long long index, const Place& at, float4 values) {
  float* const scale = scale_address(args, tensor, at);
  if (args.fits_scales != 0) {
    raise_scale(scale, values);
    return;
  }
  KeyElement* const target = static_cast<KeyElement*>(tensor_of(args, tensor).data) + index;
  *reinterpret_cast<unsigned*>(target) =
      round_eight_bits(values.x / *scale, values.y / *scale) |
      static_cast<unsigned>(round_eight_bits(values.z / *scale, values.w / *scale)) << 16;
}
#endif

// Stores four values in a tensor at an index.
__device__ __forceinline__ void store_values(const FillInputsArgs& args, RandomStream tensor,
                                             long long index, const Place& at, float4 values) {
#if FATUNE_KV_DTYPE != 0
  if (tensor != kQuery || kHasEightBitQueries) {
    store_scaled(args, tensor, index, at, values);
    return;
  }
#endif
  Element* const target = static_cast<Element*>(tensor_of(args, tensor).data) + index;
  *reinterpret_cast<ushort4*>(target) =
      make_ushort4(round_element(values.x), round_element(values.y), round_element(values.z),
                   round_element(values.w));
}

// Fills Q, K and V, except for rows of K and V that no query may see and pages of no sequence. Or,
// with args.fits_scales, raises the scales to those of what will be filled.
// shape:   grid (any, 3): y names the tensor
extern "C" __global__ void fatune_fill_inputs(const __grid_constant__ FillInputsArgs args) {
  const auto tensor = static_cast<RandomStream>(blockIdx.y);
  const TensorView& view = tensor_of(args, tensor);
  const unsigned long long groups =
      static_cast<unsigned long long>(view.batch) * view.rows * view.heads * (view.columns / 4);
  const unsigned long long step = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  unsigned long long group = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; group < groups; group += step) {
    const Place at(view, group);
    const Place within = in_sequence(args, tensor, at);
    if (tensor != kQuery &&
        (within.row >= keys_of(args, within.batch) || queries_of(args, within.batch) == 0)) {
      continue;
    }
    const float4 values = input_values(args, tensor, within);
    const long long row = tensor == kQuery ? row_offset(view, at.batch, at.row, at.head)
                                           : key_offset(args, view, at.batch, at.row, at.head);
    store_values(args, tensor, row + at.column, at, values);
  }
}

#endif
