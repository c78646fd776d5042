// A small attention family that shows, and tests, what --kernel-dir takes: correct, not fast.
// One warp computes one query row at a time; its lanes share the head dimension. Online softmax.
// source: Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018
#include "common/attention_args.h"

constexpr int kHeadDim = FATUNE_d_head;
constexpr int kPerLane = kHeadDim / 32;  // neighbouring elements of a row that a lane holds
constexpr bool kIsBf16 = FATUNE_dtype == 15;
constexpr bool kCausal = FATUNE_CAUSAL;
constexpr int kWarps = 8;
constexpr float kLog2E = 1.44269504088896340736f;

__device__ __forceinline__ float to_float(unsigned short bits) {
  float value;
  if (kIsBf16) {
    value = __uint_as_float(static_cast<unsigned>(bits) << 16);
  } else {
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  }
  return value;
}

__device__ __forceinline__ unsigned short from_float(float value) {
  unsigned short bits;
  if (kIsBf16) {
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  } else {
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  }
  return bits;
}

__device__ __forceinline__ float warp_sum(float value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, distance);
  }
  return value;
}

// One row of O. shape: row < seq_len; base: first element of (batch, position 0, head)
// threads: one warp, converged
__device__ void attend(const AttentionForwardArgs& args, long long base, int row) {
  const int lane = threadIdx.x % 32;
  const long long stride = static_cast<long long>(args.heads) * kHeadDim;
  const auto* gQ = static_cast<const unsigned short*>(args.q) + base + lane * kPerLane;
  const auto* gK = static_cast<const unsigned short*>(args.k) + base + lane * kPerLane;
  const auto* gV = static_cast<const unsigned short*>(args.v) + base + lane * kPerLane;
  auto* gO = static_cast<unsigned short*>(args.o) + base + lane * kPerLane;

  float rQ[kPerLane], rO[kPerLane] = {};
  for (int i = 0; i < kPerLane; ++i) {
    rQ[i] = to_float(gQ[row * stride + i]) * args.softmax_scale * kLog2E;
  }
  float greatest = -__int_as_float(0x7f800000);
  float sum = 0.0f;
  const int keys = kCausal ? row + 1 : args.seq_len;
#pragma unroll FATUNE_UNROLL
  for (int key = 0; key < keys; ++key) {
    float partial = 0.0f;
    for (int i = 0; i < kPerLane; ++i) {
      partial += rQ[i] * to_float(gK[key * stride + i]);
    }
    const float score = warp_sum(partial);  // times log2(e)
    const float new_greatest = fmaxf(greatest, score);
    const float rescale = exp2f(greatest - new_greatest);  // 0 for the first key
    const float weight = exp2f(score - new_greatest);
    greatest = new_greatest;
    sum = sum * rescale + weight;
    for (int i = 0; i < kPerLane; ++i) {
      rO[i] = rO[i] * rescale + weight * to_float(gV[key * stride + i]);
    }
  }
  for (int i = 0; i < kPerLane; ++i) {
    gO[row * stride + i] = from_float(rO[i] / sum);
  }
}

// shape: grid (ceil(seq_len / BLOCK_ROWS), heads, batch); block 256
extern "C" __global__ void __launch_bounds__(32 * kWarps)
    toy_attention(const AttentionForwardArgs args) {
  const long long base =
      (static_cast<long long>(blockIdx.z) * args.seq_len * args.heads + blockIdx.y) * kHeadDim;
  const int first_row = blockIdx.x * FATUNE_BLOCK_ROWS;
  for (int i = threadIdx.x / 32; i < FATUNE_BLOCK_ROWS; i += kWarps) {
    if (first_row + i < args.seq_len) {
      attend(args, base, first_row + i);
    }
  }
}
