// Attention of 16 packed rows with a warp's keys of each step, in registers.
#ifndef FATUNE_KERNELS_FLASH_DECODE_SM80_WARP_ATTENTION_CUH
#define FATUNE_KERNELS_FLASH_DECODE_SM80_WARP_ATTENTION_CUH

#include "common/online_softmax.cuh"
#include "common/ptx_math.cuh"
#include "common/ptx_mma.cuh"
#include "common/quad.cuh"
#include "flash_decode/part_schedule.cuh"
#include "flash_decode/row_sink.cuh"
#include "flash_decode/seen_keys.cuh"
#include "flash_decode_sm80/config.cuh"
#include "flash_decode_sm80/kernel_args.cuh"
#include "flash_decode_sm80/tile.cuh"

// Four accumulators of a product, of 16 rows and 8 columns.
__device__ __forceinline__ float (&product_tile(float* accumulators, int tile))[4] {
  return *reinterpret_cast<float(*)[4]>(accumulators + 4 * tile);
}

// Element i of a thread's accumulators is of row lane / 4 + 8 * (i / 2 % 2) of the warp's 16, and
// of key or column 8 * (i / 4) + lane % 4 * 2 + i % 2.
// threads: one warp, converged, in all functions
template <typename S>
class WarpAttention {
 public:
  __device__ __forceinline__ WarpAttention(const Work& work)
      : work_(work),
        lane_(static_cast<int>(threadIdx.x) % 32),
        warp_(static_cast<int>(threadIdx.x) / 32),
        left_lane_(row_major_lane<S>(lane_)),
        right_lane_(column_major_lane<S>(lane_)),
        scale_log2_(score_unit(work) * 1.44269504088896340736f) {}

  // Begins with a part, of which nothing is loaded yet. All state is set, so that the compiler
  // keeps none from part to part.
  __device__ __forceinline__ void begin(const Part& part) {
    softmax_ = {{kNothingSeen, kNothingSeen}, {0.0f, 0.0f}};
#pragma unroll
    for (float& sum : o_) {
      sum = 0.0f;
    }
#pragma unroll
    for (auto& query : q_) {
#pragma unroll
      for (unsigned& pair : query) {
        pair = 0;
      }
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      seen_[h] = seen_keys(work_, part, row_of(h));
    }
  }

  // Takes the part's Q. tile: of Q, which stays there until the part ends
  __device__ __forceinline__ void take_query(unsigned tile) {
    query_ = tile + row_warp() * 16 * S::kRowBytes;
    if constexpr (S::kKeepsQuery) {
#pragma unroll
      for (int k = 0; k < S::kHeadDim / 16; ++k) {
        ldmatrix_x4(q_[k], left_lane_.at(query_, 0, k));
      }
    }
  }

  // A step of the part. keys, values: tiles of K and V; first: the first key of the step
  __device__ __forceinline__ void step(const Part& part, unsigned keys, unsigned values,
                                       int first) {
    const int own = key_warp() * S::kWarpKeys;
    float s[S::kScores];
    scores(s, keys + own * S::kRowBytes);
    cap_scores<S::kScores>(s, work_);
    mask(s, part, first + own);
    rescale_output<S>(o_, softmax_step<S::kWarpKeys, S>(s, softmax_, scale_log2_));
    accumulate(s, values + own * S::kRowBytes);
  }

  // Adds up what the lanes of a row have of its sum, and the sink of the row's head, with the first
  // part of the keys. After the part's last step.
  __device__ __forceinline__ void total(const Part& part) {
#pragma unroll
    for (float& sum : softmax_.sum) {
      sum = quad_sum(sum);
    }
    if constexpr (kSinks) {
      if (key_warp() == 0) {
        add_sinks(part);
      }
    }
  }

  // Which rows the warp has, and which keys of a step.
  __device__ __forceinline__ int row_warp() const { return warp_ % S::kRowWarps; }
  __device__ __forceinline__ int key_warp() const { return warp_ / S::kRowWarps; }
  // The tile's row of elements 2 * h and 2 * h + 1 of each four.
  __device__ __forceinline__ int row_of(int h) const { return 16 * row_warp() + lane_ / 4 + 8 * h; }
  __device__ __forceinline__ int lane() const { return lane_; }

  __device__ __forceinline__ const SoftmaxState& softmax() const { return softmax_; }
  // Two neighbouring columns of row h: columns 8 * tile + lane % 4 * 2 and the next.
  __device__ __forceinline__ float2 columns(int h, int tile) const {
    return {o_[4 * tile + 2 * h], o_[4 * tile + 2 * h + 1]};
  }

 private:
  __device__ __forceinline__ void add_sinks(const Part& part) {
    Rescale rescale{true, {}};
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      rescale.factor[h] = add_sink(softmax_.reference[h], softmax_.sum[h],
                                   sink_of_row(work_, part, row_of(h)), scale_log2_);
    }
    rescale_output<S>(o_, rescale);
  }

  // S = Q K^T. keys: the warp's rows of the tile
  __device__ __forceinline__ void scores(float (&s)[S::kScores], unsigned keys) const {
#pragma unroll
    for (float& score : s) {
      score = 0.0f;
    }
#pragma unroll
    for (int k = 0; k < S::kHeadDim / 16; ++k) {
      unsigned q[4];
      if constexpr (S::kKeepsQuery) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          q[i] = q_[k][i];
        }
      } else {
        ldmatrix_x4(q, left_lane_.at(query_, 0, k));
      }
#pragma unroll
      for (int n = 0; n < S::kWarpKeys / 16; ++n) {
        unsigned b[4];
        ldmatrix_x4(b, right_lane_.at(keys, 16 * n, k));
        mma_m16n8k16<S::kIsBf16>(product_tile(s, 2 * n), q, b[0], b[1]);
        mma_m16n8k16<S::kIsBf16>(product_tile(s, 2 * n + 1), q, b[2], b[3]);
      }
    }
  }

  // O += P V. values: the warp's rows of the tile
  __device__ __forceinline__ void accumulate(const float (&probabilities)[S::kScores],
                                             unsigned values) {
    unsigned p[S::kScores / 2];
    pack_probabilities<S::kWarpKeys, S>(p, probabilities);
#pragma unroll
    for (int k = 0; k < S::kWarpKeys / 16; ++k) {
      const unsigned a[4] = {p[4 * k], p[4 * k + 1], p[4 * k + 2], p[4 * k + 3]};
#pragma unroll
      for (int n = 0; n < S::kHeadDim / 16; ++n) {
        unsigned b[4];
        ldmatrix_x4_trans(b, left_lane_.at(values, 16 * k, n));
        mma_m16n8k16<S::kIsBf16>(product_tile(o_, 2 * n), a, b[0], b[1]);
        mma_m16n8k16<S::kIsBf16>(product_tile(o_, 2 * n + 1), a, b[2], b[3]);
      }
    }
  }

  // Sets scores of keys that a row does not see to minus infinity. first: the warp's first key
  __device__ __forceinline__ void mask(float (&s)[S::kScores], const Part& part, int first) const {
    if (!needs_mask(work_, part, first, S::kWarpKeys)) {
      return;
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int begin = seen_[h].begin - first - lane_ % 4 * 2;
      const int end = seen_[h].end - first - lane_ % 4 * 2;
#pragma unroll
      for (int i = 2 * h; i < S::kScores; i += 4) {
#pragma unroll
        for (int j = 0; j < 2; ++j) {
          const int column = 2 * i - 4 * h + j;
          if (column < begin || column >= end) {
            s[i + j] = negative_infinity();
          }
        }
      }
    }
  }

  const Work& work_;
  const int lane_;
  const int warp_;
  const LdmatrixLane<S> left_lane_;
  const LdmatrixLane<S> right_lane_;
  const float scale_log2_;
  unsigned query_ = 0;  // the warp's rows of the tile of Q
  KeyRange seen_[2];
  SoftmaxState softmax_;
  unsigned q_[S::kKeepsQuery ? S::kHeadDim / 16 : 1][4];
  float o_[S::kOutputs];
};

#endif
