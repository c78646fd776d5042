// Q, K and V for verification and timing, made from a seed.
#ifndef FATUNE_KERNELS_REFERENCE_RANDOM_INPUTS_CUH
#define FATUNE_KERNELS_REFERENCE_RANDOM_INPUTS_CUH

#include "reference/element.cuh"
#include "reference/measurement_args.h"
#include "reference/philox.cuh"

// src/attention/input_kind.hpp has the same values.
enum InputKind : int { kNormal = 0, kLargeLogits = 1, kDominatingKey = 2 };
// Streams of random numbers: the tensors, then what the dominating key needs.
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

// Where in the sequence the dominating key of a (batch, head) is.
__device__ __forceinline__ int dominating_position(const FillInputsArgs& args,
                                                   unsigned long long head) {
  return static_cast<int>(
      __umulhi(random_bits(args, kPosition, head).x, static_cast<unsigned>(args.seq_len)));
}

// +1 or -1 for four neighbouring dimensions: the direction that all queries of a head share and
// that its dominating key points in.
__device__ __forceinline__ float4 shared_direction(const FillInputsArgs& args,
                                                   unsigned long long head, int dim) {
  const uint4 bits = random_bits(args, kDirection, (head * kHeadDim + dim) / 4);
  const auto sign = [](unsigned word) { return (word & 1u) != 0 ? 1.0f : -1.0f; };
  return make_float4(sign(bits.x), sign(bits.y), sign(bits.z), sign(bits.w));
}

// Four neighbouring elements of one row; `group` is their index divided by four.
__device__ __forceinline__ float4 input_values(const FillInputsArgs& args, RandomStream tensor,
                                               unsigned long long group) {
  const uint4 bits = random_bits(args, tensor, group);
  const float2 low = normal_pair(bits.x, bits.y);
  const float2 high = normal_pair(bits.z, bits.w);
  float4 values = make_float4(low.x, low.y, high.x, high.y);
  if (args.kind == kLargeLogits && tensor == kQuery) {
    return make_float4(values.x * kLargeLogitsFactor, values.y * kLargeLogitsFactor,
                       values.z * kLargeLogitsFactor, values.w * kLargeLogitsFactor);
  }
  if (args.kind != kDominatingKey || tensor == kValue) {
    return values;
  }
  const unsigned long long row_of_head = group / (kHeadDim / 4);
  const int dim = static_cast<int>(group % (kHeadDim / 4)) * 4;
  const unsigned long long row = row_of_head / args.heads;  // batch * seq_len + position
  const unsigned long long head =
      row / args.seq_len * args.heads + row_of_head % args.heads;  // batch * heads + head
  const float4 direction = shared_direction(args, head, dim);
  if (tensor == kQuery) {
    return make_float4(values.x + direction.x, values.y + direction.y, values.z + direction.z,
                       values.w + direction.w);
  }
  if (static_cast<int>(row % args.seq_len) != dominating_position(args, head)) {
    return values;
  }
  // Queries are normal + direction, so q . direction is about d_head and the logit, with the
  // softmax scale 1 / sqrt(d_head), about length * sqrt(d_head).
  const float length = kDominatingLogit * rsqrtf(static_cast<float>(kHeadDim));
  return make_float4(length * direction.x, length * direction.y, length * direction.z,
                     length * direction.w);
}

// Fills Q, K and V.
// shape:   grid (any, 3): y names the tensor
extern "C" __global__ void fatune_fill_inputs(const __grid_constant__ FillInputsArgs args) {
  const auto tensor = static_cast<RandomStream>(blockIdx.y);
  auto* const target =
      static_cast<ushort4*>(tensor == kQuery ? args.q : (tensor == kKey ? args.k : args.v));
  const unsigned long long step = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  unsigned long long group = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; group < args.elements / 4; group += step) {
    const float4 values = input_values(args, tensor, group);
    target[group] = make_ushort4(round_element(values.x), round_element(values.y),
                                 round_element(values.z), round_element(values.w));
  }
}

#endif
