// What a consumer does with elements of 8 bits: P as the left operand of products, and O, whose
// columns are in the order of transposed_values.cuh.
#ifndef FATUNE_KERNELS_FLASH_SM90_EIGHT_BIT_CONSUMER_CUH
#define FATUNE_KERNELS_FLASH_SM90_EIGHT_BIT_CONSUMER_CUH

#include "common/eight_bits.cuh"
#include "common/online_softmax.cuh"
#include "common/ptx_convert.cuh"
#include "common/ptx_fp8.cuh"
#include "common/ptx_math.cuh"
#include "common/ptx_memory.cuh"
#include "flash_sm90/smem_plan.cuh"

// Packs probabilities of 16 keys into two words of the operand of wgmma_fp8_registers. Its columns
// 4 * t to 4 * t + 3 are keys 2 * t, 2 * t + 1, 8 + 2 * t and 9 + 2 * t, which this thread has the
// scores of; transposed V has its keys in that order too.
__device__ __forceinline__ void pack_16_keys(unsigned* p, const float* s) {
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    p[h] = cvt_rn_satfinite_e4m3x4(s[2 * h], s[2 * h + 1], s[2 * h + 4], s[2 * h + 5]);
  }
}

// The same of a step's first kKeys keys.
template <int kKeys, typename S>
__device__ __forceinline__ void pack_e4m3(unsigned (&p)[S::kScores / S::kPackedScores],
                                          const float (&s)[S::kScores]) {
#pragma unroll
  for (int part = 0; part < kKeys / 16; ++part) {
    pack_16_keys(p + 2 * part, s + 8 * part);
  }
}

// Whether a probability of the warp is one that P may not hold. Those from 432 on have become 448,
// the greatest e4m3 and thus the greatest byte but NaN's.
// threads: one warp, converged
template <int kCount>
__device__ __forceinline__ bool exceeds_range(const unsigned (&p)[kCount]) {
  constexpr unsigned kToSign = 0x02020202;  // takes the greatest bytes, and no others, to 128
  unsigned greatest = 0;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    greatest |= p[i] + kToSign;
  }
  return __any_sync(0xffffffffu, (greatest & 0x80808080u) != 0);
}

// The sum of kCount words of four e4m3, with a stride of kStride. They are added in fp16, whose
// significand has seven bits more than theirs, and whose range their sum does not leave.
template <int kCount, int kStride>
__device__ __forceinline__ float sum_of_words(const unsigned* words) {
  unsigned sums = 0;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const TwoPairs halves = cvt_halves_of_four<true>(words[i * kStride]);
    const unsigned both = add_f16x2(halves.first, halves.second);
    sums = i == 0 ? both : add_f16x2(sums, both);
  }
  return cvt_f32<false>(static_cast<unsigned short>(sums)) +
         cvt_f32<false>(static_cast<unsigned short>(sums >> 16));
}

// Sums of a row's rounded probabilities, by which O is divided. Those of the softmax's state are of
// unrounded ones, for log-sum-exps.
struct RoundedSums {
  float of_row[2];

  __device__ __forceinline__ void begin() { of_row[0] = of_row[1] = 0.0f; }

  __device__ __forceinline__ void rescale(const Rescale& rescale) {
    if (rescale.needed) {
      of_row[0] *= rescale.factor[0];
      of_row[1] *= rescale.factor[1];
    }
  }

  __device__ __forceinline__ void change_places(SoftmaxState& state) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float sum = of_row[h];
      of_row[h] = state.sum[h];
      state.sum[h] = sum;
    }
  }

  // Adds those of a step's first kKeys keys, unless they are a column of the product P V.
  // shape: p: words 2 * i + h are of row h
  template <int kKeys, typename S>
  __device__ __forceinline__ void add_packed(const unsigned* p) {
    if constexpr (S::kSumColumns == 0) {
      constexpr int kWords = kKeys / 16;  // of a row
      constexpr int kAtOnce = kWords % 4 == 0 ? 4 : kWords % 3 == 0 ? 3 : 2;
#pragma unroll
      for (int i = 0; i < kWords; i += kAtOnce) {
        of_row[0] += sum_of_words<kAtOnce, 2>(p + 2 * i);
        of_row[1] += sum_of_words<kAtOnce, 2>(p + 2 * i + 1);
      }
    }
  }

  // Adds those of the step's product, whose own sum begins with 0 again: a sum of many steps would
  // lose much there, where sums have few bits.
  // shape: o: sums of O, and those of kSumColumns behind them
  template <typename S, int kSums>
  __device__ __forceinline__ void take_column(float (&o)[kSums]) {
    if constexpr (S::kSumColumns > 0) {
      constexpr float kAlmostNothing = 0x1p-60f;  // for a 0 ptxas would serialise wgmma
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        of_row[h] += o[S::kOutputs + 2 * h];
        o[S::kOutputs + 2 * h] *= kAlmostNothing;
      }
    }
  }
};

// A step's exponentials, sums of rows and P, in parts of 16 keys: the units for exponentials are
// never idle if P of earlier keys is packed meanwhile.
// threads: one warp, converged
template <typename S>
class PackedSoftmax {
 public:
  __device__ __forceinline__ PackedSoftmax(const SoftmaxState& state, float scale_log2)
      : scale_log2_(scale_log2), bias_{state.reference[0], state.reference[1]} {}

  // The first part of a step's exponentials.
  __device__ __forceinline__ void begin(float (&s)[S::kScores]) {
#pragma unroll
    for (int part = 0; part < kFirst; ++part) {
      exponentiate(s, part);
    }
  }

  // The others, and P of all.
  __device__ __forceinline__ void finish(float (&s)[S::kScores],
                                         unsigned (&p)[S::kScores / S::kPackedScores]) {
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      if (part + kFirst < kParts) {
        exponentiate(s, part + kFirst);
      }
      pack_16_keys(p + 2 * part, s + kPartScores * part);
    }
  }

  __device__ __forceinline__ void add_to(SoftmaxState& state) const {
    state.sum[0] += sums_[0][0] + sums_[0][1];
    state.sum[1] += sums_[1][0] + sums_[1][1];
  }

 private:
  enum Extent : int {
    kPartScores = 8,  // of a thread, in 16 keys
    kParts = S::kScores / kPartScores,
    kFirst = (kParts + 1) / 2
  };

  __device__ __forceinline__ void exponentiate(float (&s)[S::kScores], int part) {
#pragma unroll
    for (int i = 0; i < kPartScores; ++i) {
      const int at = part * kPartScores + i;
      const int h = i / 2 % 2;
      s[at] = ex2_approx_ftz(fmaf(s[at], scale_log2_, -bias_[h]));
      sums_[h][i % 2] += s[at];
    }
  }

  const float scale_log2_;
  const float bias_[2];
  float sums_[2][2] = {};
};

// Rounds O to 16 bits, and lays it out as a tile. Columns 4 * t to 4 * t + 3 of 16 columns are sums
// of this thread: products have even columns in the first eight of 16, and odd ones behind them.
// shape:   tile: the consumer's rows, [panels][64][64]; warp: index in the consumer
// threads: one warp, converged
template <typename S>
__device__ __forceinline__ void stage_transposed_output(unsigned tile,
                                                        const float (&o)[S::kOutputs], int warp,
                                                        int lane) {
#pragma unroll
  for (int i = 0; i < S::kOutputs; i += 8) {
    const int panel = i / 32;
    const int chunk = i % 32 / 4 + lane % 4 / 2;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int row = 16 * warp + lane / 4 + 8 * h;
      const float* const sums = o + i + 2 * h;  // columns 0, 2, and 1, 3
      st_shared_8(tile + panel * SmemPlan<S>::kPanelBytesQ + row * SmemPlan<S>::kLineBytes +
                      16 * (chunk ^ row % 8) + lane % 2 * 8,
                  cvt_rn_x2<S::kIsBf16>(sums[0], sums[4]), cvt_rn_x2<S::kIsBf16>(sums[1], sums[5]));
    }
  }
}

#endif
