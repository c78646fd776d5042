// The kernel that 'fatune new-family' writes, with one mistake: the last tile takes a key too many.
// It shows neither where tiles divide the length nor under a causal mask.
#include "common/attention_args.h"  // AttentionForwardArgs
#include "common/ptx_convert.cuh"   // cvt_f32, cvt_rn: one FP16 or BF16 element to and from float
#include "common/ptx_math.cuh"      // negative_infinity

constexpr int kDim = FATUNE_d_head, kRows = FATUNE_ROWS, kKeys = FATUNE_KEYS;
constexpr bool kIsBf16 = FATUNE_dtype == 15;
constexpr float kLog2E = 1.44269504088896340736f;

// Tensors: (batch, position, head, d). Grid: (ceil(seq_len / ROWS), heads, batch). Block: ROWS.
extern "C" __global__ void __launch_bounds__(kRows) off_by_one(const AttentionForwardArgs args) {
  __shared__ unsigned short sK[kKeys][kDim], sV[kKeys][kDim];
  const int length = args.seq_len;
  const int row = blockIdx.x * kRows + threadIdx.x;  // may be past the end, in the last block
  const long long stride = static_cast<long long>(args.heads) * kDim;  // of positions
  const long long head = blockIdx.z * length * stride + blockIdx.y * kDim;
  const auto* q = static_cast<const unsigned short*>(args.q) + head + min(row, length - 1) * stride;
  const auto* k = static_cast<const unsigned short*>(args.k) + head;
  const auto* v = static_cast<const unsigned short*>(args.v) + head;

  float rO[kDim] = {}, greatest = negative_infinity(), sum = 0.0f;
  for (int first = 0; first < length; first += kKeys) {
    __syncthreads();  // all threads have used the tile before
    for (int i = threadIdx.x; i < kKeys * kDim; i += kRows) {
      const int j = i / kDim, d = i % kDim;
      sK[j][d] = first + j < length ? k[(first + j) * stride + d] : 0;
      sV[j][d] = first + j < length ? v[(first + j) * stride + d] : 0;
    }
    __syncthreads();
    for (int j = 0; j < kKeys && first + j <= length && (!FATUNE_CAUSAL || first + j <= row); ++j) {
      float score = 0.0f;
      for (int d = 0; d < kDim; ++d) score += cvt_f32<kIsBf16>(q[d]) * cvt_f32<kIsBf16>(sK[j][d]);
      score *= args.softmax_scale * kLog2E;                            // weights are powers of two
      const float rescale = exp2f(greatest - fmaxf(greatest, score));  // 0 for the first key
      greatest = fmaxf(greatest, score);
      const float weight = exp2f(score - greatest);
      sum = sum * rescale + weight;
      for (int d = 0; d < kDim; ++d) rO[d] = rO[d] * rescale + weight * cvt_f32<kIsBf16>(sV[j][d]);
    }
  }
  if (row < length) {
    auto* o = static_cast<unsigned short*>(args.o) + head + row * stride;
    for (int d = 0; d < kDim; ++d) o[d] = cvt_rn<kIsBf16>(rO[d] / sum);
  }
}
