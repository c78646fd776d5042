// A small attention family whose Q, K and V have 8 bits. One warp computes one query row; its lanes
// share the head dimension. Online softmax; P becomes e4m3 before it multiplies V.
//
// FATUNE_MISTAKE: 1: all heads have the scale of the first head of Q; 2: V has the scale of K; 3: P
// is not rounded, which is none.
#include "common/ptx_convert.cuh"
#include "common/ptx_fp8.cuh"

struct Args {
  const unsigned char* q;
  const unsigned char* k;
  const unsigned char* v;
  unsigned short* o;
  const float* q_scales;
  const float* k_scales;
  const float* v_scales;
  int scale_head_stride;
  int seq_len;
  int seq_len_kv;
  int heads;
  int kv_heads;
  int causal;
  float softmax_scale;
};

constexpr int kHeadDim = FATUNE_d_head;
constexpr int kPerLane = kHeadDim / 32;  // neighbouring elements of a row that a lane holds
constexpr int kWarps = 8;
constexpr float kUnits = 256.0f;
static_assert(kPerLane == 2, "elements are read in pairs");

// Two elements.
__device__ __forceinline__ float2 load_pair(const unsigned char* address) {
  const unsigned halves = cvt_f16x2<true>(*reinterpret_cast<const unsigned short*>(address));
  return make_float2(cvt_f32<false>(static_cast<unsigned short>(halves)),
                     cvt_f32<false>(static_cast<unsigned short>(halves >> 16)));
}

__device__ __forceinline__ float rounded(float weight) {
  if (FATUNE_MISTAKE == 3) {
    return weight;
  }
  const unsigned halves = cvt_f16x2<true>(cvt_rn_satfinite_x2<true>(kUnits * weight, 0.0f));
  return cvt_f32<false>(static_cast<unsigned short>(halves)) / kUnits;
}

__device__ __forceinline__ float warp_sum(float value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, distance);
  }
  return value;
}

// shape: grid (ceil(seq_len / 8), heads, batch); block 256
extern "C" __global__ void __launch_bounds__(32 * kWarps)
    toy_eight_bits(const __grid_constant__ Args args) {
  const int lane = threadIdx.x % 32;
  const int row = blockIdx.x * kWarps + threadIdx.x / 32;
  if (row >= args.seq_len) {
    return;
  }
  const int head = blockIdx.y;
  const int kv_head = head / (args.heads / args.kv_heads);
  const long long batch = blockIdx.z;
  const long long first = ((batch * args.seq_len + row) * args.heads + head) * kHeadDim + 2 * lane;
  const long long first_key =
      (batch * args.seq_len_kv * args.kv_heads + kv_head) * kHeadDim + 2 * lane;
  const float q_scale = args.q_scales[FATUNE_MISTAKE == 1 ? 0 : head * args.scale_head_stride];
  const float k_scale = args.k_scales[kv_head * args.scale_head_stride];
  const float v_scale =
      (FATUNE_MISTAKE == 2 ? args.k_scales : args.v_scales)[kv_head * args.scale_head_stride];
  const float2 q = load_pair(args.q + first);
  float greatest = -__int_as_float(0x7f800000);
  float sum = 0.0f;
  float2 o = make_float2(0.0f, 0.0f);
  const int keys = args.causal ? max(0, row + 1 + args.seq_len_kv - args.seq_len) : args.seq_len_kv;
  for (int key = 0; key < keys; ++key) {
    const long long at = first_key + static_cast<long long>(key) * args.kv_heads * kHeadDim;
    const float2 k = load_pair(args.k + at);
    const float2 v = load_pair(args.v + at);
    const float score = warp_sum(q.x * k.x + q.y * k.y) * (q_scale * k_scale * args.softmax_scale);
    const float new_greatest = fmaxf(greatest, score);
    const float rescale = expf(greatest - new_greatest);  // 0 for the first key
    const float weight = expf(score - new_greatest);
    greatest = new_greatest;
    sum = sum * rescale + weight;
    o.x = o.x * rescale + rounded(weight) * v.x;
    o.y = o.y * rescale + rounded(weight) * v.y;
  }
  const float scale = keys > 0 ? v_scale / sum : 0.0f;
  args.o[first] = cvt_rn<true>(o.x * scale);
  args.o[first + 1] = cvt_rn<true>(o.y * scale);
}
