// Writes out the intermediates of each step for 'fatune debug'. Without FATUNE_DEBUG_DUMP the
// kernel contains none of this code.
#ifndef FATUNE_KERNELS_FLASH_SM80_DEBUG_DUMP_CUH
#define FATUNE_KERNELS_FLASH_SM80_DEBUG_DUMP_CUH

#include "flash_sm80/kernel_args.cuh"
#include "flash_sm80/mma_tiles.cuh"
#include "flash_sm80/softmax.cuh"

#ifndef FATUNE_DEBUG_DUMP

using KernelArgs = ProblemArgs;

template <typename S>
struct StepDump {
  __device__ __forceinline__ StepDump(const KernelArgs&, int, int, int) {}
  __device__ __forceinline__ void scores(const ScoreFragment<S>&, float) const {}
  __device__ __forceinline__ void results(const SoftmaxState<S>&, float, const ProbFragment<S>&,
                                          const OutputFragment<S>&) const {}
};

#else

#include "common/attention_dump.h"
#include "common/ptx_convert.cuh"

struct KernelArgs : ProblemArgs {
  AttentionDump dump;
};

// One warp's part of the dump of one step. threads: one converged warp, in every function
template <typename S>
struct StepDump {
  const AttentionDump& to;
  const int first_row;  // row (0, 0) of the lane in its first mma tile
  const int tile;
  const int lane;

  // shape: warp_row: position of the warp's first query
  __device__ __forceinline__ StepDump(const KernelArgs& args, int warp_row, int kv_tile, int lane_)
      : to(args.dump), first_row(warp_row + lane_ / 4), tile(kv_tile), lane(lane_) {}

  // Element i of a lane's accumulator tile is row i / 2 * 8, column i % 2 of the lane's first.
  // shape: tile [16, 8] fp32; at: address of the lane's element 0; stride: elements between rows
  __device__ __forceinline__ static void write_tile(float* at, int stride, const float (&values)[4],
                                                    float factor) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      at[i / 2 * 8 * static_cast<long long>(stride) + i % 2] = values[i] * factor;
    }
  }

  __device__ __forceinline__ float* score_address(float* matrix, int m, int n) const {
    return matrix + static_cast<long long>(first_row + 16 * m) * to.keys + tile * S::kBlockN +
           8 * n + lane % 4 * 2;
  }

  // units: rS raw scores, after the mask; written times scale_log2
  __device__ __forceinline__ void scores(const ScoreFragment<S>& rS, float scale_log2) const {
#pragma unroll
    for (int m = 0; m < S::kRowTiles; ++m) {
#pragma unroll
      for (int n = 0; n < S::kKeyTiles; ++n) {
        write_tile(score_address(to.s, m, n), to.keys, rS[m][n], scale_log2);
      }
    }
  }

  // units: state's references times unit_log2 are exponents of two
  __device__ __forceinline__ void results(const SoftmaxState<S>& state, float unit_log2,
                                          const ProbFragment<S>& rP,
                                          const OutputFragment<S>& rO) const {
    rows(state, unit_log2);
    probabilities(rP);
    output(rO);
  }

  // Adds up the sums of the row's four lanes, which have different columns.
  __device__ __forceinline__ void rows(const SoftmaxState<S>& state, float unit_log2) const {
#pragma unroll
    for (int m = 0; m < S::kRowTiles; ++m) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const float sum = quad_sum(state.sum[m][h]);
        const long long at = static_cast<long long>(tile) * to.rows + first_row + 16 * m + 8 * h;
        if (lane % 4 == 0) {
          to.m[at] = state.reference[m][h] * unit_log2;
          to.l[at] = sum;
        }
      }
    }
  }

  // The inverse of pack_probabilities.
  __device__ __forceinline__ void probabilities(const ProbFragment<S>& rP) const {
#pragma unroll
    for (int m = 0; m < S::kRowTiles; ++m) {
#pragma unroll
      for (int n = 0; n < S::kKeyTiles; ++n) {
        float values[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const unsigned pair = rP[m][n / 2][n % 2 * 2 + i / 2];
          values[i] =
              cvt_f32<S::kIsBf16>(static_cast<unsigned short>(i % 2 == 0 ? pair : pair >> 16));
        }
        write_tile(score_address(to.p, m, n), to.keys, values, 1.0f);
      }
    }
  }

  __device__ __forceinline__ void output(const OutputFragment<S>& rO) const {
#pragma unroll
    for (int m = 0; m < S::kRowTiles; ++m) {
      const long long row = static_cast<long long>(tile) * to.rows + first_row + 16 * m;
#pragma unroll
      for (int n = 0; n < S::kDimTiles; ++n) {
        write_tile(to.o + row * S::kHeadDim + 8 * n + lane % 4 * 2, S::kHeadDim, rO[m][n], 1.0f);
      }
    }
  }
};

#endif

#endif
