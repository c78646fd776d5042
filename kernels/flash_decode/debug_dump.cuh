// Writes out the intermediates of each step for 'fatune debug'. Without FATUNE_DEBUG_DUMP the
// kernel contains none of this code.
#ifndef FATUNE_KERNELS_FLASH_DECODE_DEBUG_DUMP_CUH
#define FATUNE_KERNELS_FLASH_DECODE_DEBUG_DUMP_CUH

#include "flash_decode/kernel_args.cuh"
#include "flash_decode/part_schedule.cuh"

#ifndef FATUNE_DEBUG_DUMP

// The kernel has no parameter for the dump.
#define FATUNE_DUMP_PARAMETER
#define FATUNE_DUMPED(work) work

template <typename S, typename Sums>
class StepDump {
 public:
  __device__ __forceinline__ StepDump(const Work&, const Part&, int) {}
  template <typename Scores>
  __device__ __forceinline__ void scores(const Scores&) const {}
  template <typename Probabilities, typename Total>
  __device__ __forceinline__ void softmax(const Sums&, const Probabilities&, const Total&) const {}
  __device__ __forceinline__ void output(const Sums&) const {}
};

#else

#include "common/attention_dump.h"
#include "common/online_softmax.cuh"
#include "common/ptx_convert.cuh"
#include "common/ptx_math.cuh"
#include "common/ptx_memory.cuh"
#include "flash_decode/config.cuh"
#include "flash_decode/sums.cuh"

// The kernel's last parameter, which reaches the consumers with the others.
#define FATUNE_DUMP_PARAMETER , const __grid_constant__ AttentionDump dump_to
#define FATUNE_DUMPED(work) \
  DumpedWork { work, dump_to }
struct DumpedWork : Work {
  AttentionDump dump;
};

// The dump of a consumer's step. The problem has one head: a packed row is a query.
// threads: a consumer, converged, in all functions
template <typename S, typename Sums>
class StepDump {
 public:
  // work: a DumpedWork; step: of the sequence's
  __device__ __forceinline__ StepDump(const Work& work, const Part& part, int step)
      : to_(static_cast<const DumpedWork&>(work).dump),
        scale_log2_(score_unit(work) * 1.44269504088896340736f),
        first_row_(part.row_tile * work.tile_rows),
        step_(step),
        thread_(static_cast<int>(threadIdx.x)) {}

  // units: s: raw scores, after the mask; written times scale_log2
  template <typename Scores>
  __device__ __forceinline__ void scores(const Scores& s) const {
    for_each_score(
        [&](int i, int row, int key) { *score(to_.s, row, key) = element(s, i) * scale_log2_; });
  }

  // p: as for probabilities(); total(sums): adds up what the threads of a row have
  template <typename Probabilities, typename Total>
  __device__ __forceinline__ void softmax(const Sums& sums, const Probabilities& p,
                                          const Total& total) const {
    Sums of_row = sums;
    total(of_row);
    rows(of_row);
    probabilities(p);
  }

  // O after the step's product, relative to the step's references.
  __device__ __forceinline__ void output(const Sums& sums) const {
#pragma unroll
    for (int pair = 0; pair < Sums::kPairs; ++pair) {
#pragma unroll
      for (int square = 0; square < Sums::kSquares; ++square) {
        const Square at = Sums::square_at(pair, square, thread_);
        const float4 o = sums.elements(pair, square);
        float* const first = to_.o + in_step(at.rows[0]) * S::kHeadDimV;
        float* const second = to_.o + in_step(at.rows[1]) * S::kHeadDimV;
        first[at.columns[0]] = o.x;
        first[at.columns[1]] = o.y;
        second[at.columns[0]] = o.z;
        second[at.columns[1]] = o.w;
      }
    }
  }

 private:
  // References and sums. units: references times scale_log2 are exponents of two
  __device__ __forceinline__ void rows(const Sums& sums) const {
#pragma unroll
    for (int pair = 0; pair < Sums::kPairs && Sums::is_first(thread_); ++pair) {
      const Square at = Sums::square_at(pair, 0, thread_);
      const float4 state = sums.state(pair);
      row(in_step(at.rows[0]), state.x, state.y);
      row(in_step(at.rows[1]), state.z, state.w);
    }
  }

  // A row that has seen no key has no maximum.
  __device__ __forceinline__ void row(long long at, float reference, float sum) const {
    to_.m[at] = reference <= kNothingSeen ? negative_infinity() : reference * scale_log2_;
    to_.l[at] = sum;
  }

  // P of a tall consumer, which has it in registers.
  __device__ __forceinline__ void probabilities(const unsigned (&p)[S::kScores / 2]) const {
    for_each_score(
        [&](int i, int row, int key) { *score(to_.p, row, key) = half_of(p[i / 2], i % 2); });
  }

  // P of the short consumer: [64-key panels][rows][64 keys] at this address in shared memory.
  __device__ __forceinline__ void probabilities(unsigned panels) const {
#pragma unroll 1
    for (int at = thread_; at < S::kRows * S::kStepKeys / 8; at += S::kConsumers) {
      const int row = at % S::kRows;
      const int chunk = at / S::kRows;  // of 8 keys
      const unsigned line = panels + chunk / 8 * SmemPlan<S>::kPanelBytesQ + row * 128;
      const uint4 eight = ld_shared_16(line + 16 * (chunk % 8 ^ row % 8));
      const unsigned pairs[4] = {eight.x, eight.y, eight.z, eight.w};
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        *score(to_.p, row, 8 * chunk + i) = half_of(pairs[i / 2], i % 2);
      }
    }
  }

  // Calls visit(i, row, key) for each accumulator i of S that the thread has.
  // shape: row: of the tile; key: of the step
  template <typename Visit>
  __device__ __forceinline__ void for_each_score(const Visit& visit) const {
    const int lane = thread_ % 32;
#pragma unroll
    for (int i = 0; i < (S::kTall ? 1 : S::kKeyTiles) * S::kScores; ++i) {
      const int r = S::kTall ? i / 2 % 2 : i % S::kScores / 4 * 2 + i % 2;
      const int key = S::kTall ? i / 4 * 8 + lane % 4 * 2 + i % 2
                               : i / S::kScores * 64 + thread_ / 32 * 16 + lane / 4 + i / 2 % 2 * 8;
      visit(i, Sums::square_at(r / 2, 0, thread_).rows[r % 2], key);
    }
  }

  // Accumulator i of S, which a tall consumer has of one product and a short one of several.
  __device__ __forceinline__ static float element(const float (&s)[S::kScores], int i) {
    return s[i];
  }
  __device__ __forceinline__ static float element(const float (&s)[S::kKeyTiles][S::kScores],
                                                  int i) {
    return s[i / S::kScores][i % S::kScores];
  }

  __device__ __forceinline__ static float half_of(unsigned pair, int which) {
    return cvt_f32<S::kIsBf16>(static_cast<unsigned short>(which == 0 ? pair : pair >> 16));
  }

  __device__ __forceinline__ float* score(float* matrix, int row, int key) const {
    return matrix + static_cast<long long>(first_row_ + row) * to_.keys + step_ * S::kStepKeys +
           key;
  }

  // Index of a row among those of all steps.
  __device__ __forceinline__ long long in_step(int row) const {
    return static_cast<long long>(step_) * to_.rows + first_row_ + row;
  }

  const AttentionDump& to_;
  const float scale_log2_;
  const int first_row_;  // of the tile
  const int step_;
  const int thread_;
};

#endif

#endif
