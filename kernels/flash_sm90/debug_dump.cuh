// Writes out the intermediates of each step for 'fatune debug'. Without FATUNE_DEBUG_DUMP the
// kernel contains none of this code.
#ifndef FATUNE_KERNELS_FLASH_SM90_DEBUG_DUMP_CUH
#define FATUNE_KERNELS_FLASH_SM90_DEBUG_DUMP_CUH

#include "common/online_softmax.cuh"
#include "flash_sm90/config.cuh"

#ifndef FATUNE_DEBUG_DUMP

// The kernel has no parameter for the dump.
struct DumpTo {};
#define FATUNE_DUMP_PARAMETER
#define FATUNE_DUMP_TO \
  DumpTo {}

template <typename S>
class StepDump {
 public:
  __device__ __forceinline__ explicit StepDump(const DumpTo&) {}
  __device__ __forceinline__ void begin_tile(int, int, int) {}
  template <int kKeys>
  __device__ __forceinline__ void scores(const float (&)[S::kScores], int, float) const {}
  template <int kKeys>
  __device__ __forceinline__ void softmax(const SoftmaxState&,
                                          const unsigned (&)[S::kScores / S::kPackedScores], int,
                                          float) const {}
  __device__ __forceinline__ void output(const float (&)[S::kOutputs], int) const {}
};

#else

#include "common/attention_dump.h"
#include "common/ptx_convert.cuh"
#include "common/ptx_math.cuh"

// The kernel's last parameter.
using DumpTo = AttentionDump;
#define FATUNE_DUMP_PARAMETER , const __grid_constant__ DumpTo dump_to
#define FATUNE_DUMP_TO dump_to

// One consumer's part of the dump. Rows after the last consumer with a query are not written.
// threads: one converged warp, in every function
template <typename S>
class StepDump {
 public:
  __device__ __forceinline__ explicit StepDump(const DumpTo& to) : to_(to) {}

  // shape: first_row: position of the consumer's first query; warp: index in the consumer
  __device__ __forceinline__ void begin_tile(int first_row, int warp, int lane) {
    row_ = first_row + 16 * warp + lane / 4;
    column_ = lane % 4 * 2;
    written_ = first_row < to_.rows;
  }

  // Keys of the step after the first kKeys count as masked.
  // units: s raw scores, after the mask; written times scale_log2
  template <int kKeys>
  __device__ __forceinline__ void scores(const float (&s)[S::kScores], int step,
                                         float scale_log2) const {
    write_fragment<S::kScores>(score_address(to_.s, step), to_.keys, [&](int i) {
      return i < kKeys / 2 ? s[i] * scale_log2 : negative_infinity();
    });
  }

  // units: state's references times scale_log2 are exponents of two
  template <int kKeys>
  __device__ __forceinline__ void softmax(const SoftmaxState& state,
                                          const unsigned (&p)[S::kScores / S::kPackedScores],
                                          int step, float scale_log2) const {
    rows(state, step, scale_log2);
    write_fragment<S::kScores>(score_address(to_.p, step), to_.keys, [&](int i) {
      const unsigned pair = i < kKeys / 2 ? p[i / 2] : 0;
      return cvt_f32<S::kIsBf16>(static_cast<unsigned short>(i % 2 == 0 ? pair : pair >> 16));
    });
  }

  // O after the step's product, relative to the step's references.
  __device__ __forceinline__ void output(const float (&o)[S::kOutputs], int step) const {
    float* const at = to_.o + row_in_step(step) * S::kHeadDimV + column_;
    write_fragment<S::kOutputs>(at, S::kHeadDimV, [&](int i) { return o[i]; });
  }

 private:
  __device__ __forceinline__ long long row_in_step(int step) const {
    return static_cast<long long>(step) * to_.rows + row_;
  }

  __device__ __forceinline__ float* score_address(float* matrix, int step) const {
    return matrix + static_cast<long long>(row_) * to_.keys + step * S::kBlockN + column_;
  }

  // Adds up the sums of the row's four lanes, which have different columns. A row that has seen no
  // key has no maximum.
  __device__ __forceinline__ void rows(const SoftmaxState& state, int step,
                                       float scale_log2) const {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float sum = quad_sum(state.sum[h]);
      if (written_ && column_ == 0) {
        const bool none = state.reference[h] == kNothingSeen;
        to_.m[row_in_step(step) + 8 * h] =
            none ? negative_infinity() : state.reference[h] * scale_log2;
        to_.l[row_in_step(step) + 8 * h] = sum;
      }
    }
  }

  // Elements of wgmma's accumulators: element i is in row 8 * (i / 2 % 2), column
  // 8 * (i / 4) + i % 2, counted from the thread's first element.
  // shape: at: address of the thread's element 0; stride: elements between rows
  template <int kCount, typename Value>
  __device__ __forceinline__ void write_fragment(float* at, int stride, const Value& value) const {
#pragma unroll
    for (int i = 0; i < kCount && written_; ++i) {
      at[i / 2 % 2 * 8 * static_cast<long long>(stride) + 8 * (i / 4) + i % 2] = value(i);
    }
  }

  const DumpTo& to_;
  int row_ = 0;           // row of the thread's first element
  int column_ = 0;        // column of the thread's first element
  bool written_ = false;  // whether the consumer has a query
};

#endif

#endif
