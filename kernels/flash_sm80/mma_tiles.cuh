// The two matrix products of one KV step, in registers, for one warp.
#ifndef FATUNE_KERNELS_FLASH_SM80_MMA_TILES_CUH
#define FATUNE_KERNELS_FLASH_SM80_MMA_TILES_CUH

#include "common/ptx_mma.cuh"
#include "flash_sm80/smem_layout.cuh"

// Fragments as mma.sync takes them.
template <typename S>
using ScoreFragment = float[S::kRowTiles][S::kKeyTiles][4];  // S: [kWarpRows, kBlockN] fp32
template <typename S>
using OutputFragment = float[S::kRowTiles][S::kDimTiles][4];  // O: [kWarpRows, kHeadDim] fp32
template <typename S>
using ProbFragment = unsigned[S::kRowTiles][S::kPvSteps][4];  // P: [kWarpRows, kBlockN] 16-bit
template <typename S, int kSteps>
using QueryFragment = unsigned[kSteps][S::kRowTiles][4];  // Q: [kWarpRows, 16 kSteps] 16-bit

// Q fragments of kSteps k16 steps from first_step on.
// shape:   q: lane addresses of this warp's rows of sQ
// threads: one warp, converged
template <typename S, int kSteps>
__device__ __forceinline__ void load_query(QueryFragment<S, kSteps>& rQ, const LdmatrixLane<S>& q,
                                           int first_step) {
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
#pragma unroll
    for (int m = 0; m < S::kRowTiles; ++m) {
      ldmatrix_x4(rQ[step][m], q.at(16 * m, first_step + step));
    }
  }
}

// Accumulates one k16 step into n pairs of column tiles: n outermost and back and forth over the
// row tiles, so that neighbouring mma share an operand.
// shape:   rC [kRowTiles][2 kPairs][4]; rA [kRowTiles][4]; rB [kPairs][4]: B operands of two
//          column tiles each
// threads: one warp, converged
template <typename S, int kPairs, typename C, typename A>
__device__ __forceinline__ void mma_step(C& rC, const A& rA, const unsigned (&rB)[kPairs][4]) {
#pragma unroll
  for (int n = 0; n < 2 * kPairs; ++n) {
#pragma unroll
    for (int i = 0; i < S::kRowTiles; ++i) {
      const int m = n % 2 == 0 ? i : S::kRowTiles - 1 - i;
      mma_m16n8k16<S::kIsBf16>(rC[m][n], rA[m], rB[n / 2][n % 2 * 2], rB[n / 2][n % 2 * 2 + 1]);
    }
  }
}

// rS = Q K^T for one KV tile.
// shape:   rS [kWarpRows, kBlockN] fp32, overwritten; rQ: all of Q when kQResident, else unused;
//          q, k: lane addresses of sQ (this warp's rows) and sK
// threads: one warp, converged
// sync:    in: sQ and sK visible to the warp; out: nothing
// units:   raw scores, not scaled
template <typename S>
__device__ __forceinline__ void scores(ScoreFragment<S>& rS,
                                       const QueryFragment<S, S::kQkSteps>& rQ,
                                       const LdmatrixLane<S>& q, const LdmatrixLane<S>& k) {
  constexpr int kSteps = S::kQkStepsPerLoad;
  constexpr int kLoads = S::kQkSteps / kSteps;
  constexpr int kPairs = S::kKeyTiles / 2;
  unsigned rK[S::kQkBuffers][kSteps][kPairs][4];
  QueryFragment<S, kSteps> rQPart[S::kQkBuffers];

  const auto load = [&](int index) {
    const int buffer = index % S::kQkBuffers;
    if constexpr (!S::kQResident) {
      load_query<S, kSteps>(rQPart[buffer], q, index * kSteps);
    }
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int n = 0; n < kPairs; ++n) {
        ldmatrix_x4(rK[buffer][step][n], k.at(16 * n, index * kSteps + step));
      }
    }
  };
#pragma unroll
  for (int m = 0; m < S::kRowTiles; ++m) {
#pragma unroll
    for (int n = 0; n < S::kKeyTiles; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        rS[m][n][i] = 0.0f;
      }
    }
  }
  if constexpr (S::kQkBuffers == 2) {
    load(0);
  }
#pragma unroll
  for (int index = 0; index < kLoads; ++index) {
    if (S::kQkBuffers == 1) {
      load(index);
    } else if (index + 1 < kLoads) {
      load(index + 1);
    }
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      if constexpr (S::kQResident) {
        mma_step<S, kPairs>(rS, rQ[index * kSteps + step], rK[index % S::kQkBuffers][step]);
      } else {
        mma_step<S, kPairs>(rS, rQPart[index % S::kQkBuffers][step],
                            rK[index % S::kQkBuffers][step]);
      }
    }
  }
}

// rO += P V for one KV tile.
// shape:   rO [kWarpRows, kHeadDim] fp32; rP [kWarpRows, kBlockN] 16-bit; v: lane addresses of sV
// threads: one warp, converged
// sync:    in: sV visible to the warp; out: nothing
template <typename S>
__device__ __forceinline__ void accumulate_output(OutputFragment<S>& rO, const ProbFragment<S>& rP,
                                                  const LdmatrixLane<S>& v) {
  constexpr int kSteps = S::kPvStepsPerLoad;
  constexpr int kLoads = S::kPvSteps / kSteps;
  constexpr int kPairs = S::kDimTiles / 2;
  unsigned rV[S::kPvBuffers][kSteps][kPairs][4];

  const auto load = [&](int index) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int n = 0; n < kPairs; ++n) {
        ldmatrix_x4_trans(rV[index % S::kPvBuffers][step][n],
                          v.at(16 * (index * kSteps + step), n));
      }
    }
  };
  if constexpr (S::kPvBuffers == 2) {
    load(0);
  }
#pragma unroll
  for (int index = 0; index < kLoads; ++index) {
    if (S::kPvBuffers == 1) {
      load(index);
    } else if (index + 1 < kLoads) {
      load(index + 1);
    }
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      unsigned rPStep[S::kRowTiles][4];
#pragma unroll
      for (int m = 0; m < S::kRowTiles; ++m) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          rPStep[m][i] = rP[m][index * kSteps + step][i];
        }
      }
      mma_step<S, kPairs>(rO, rPStep, rV[index % S::kPvBuffers][step]);
    }
  }
}

#endif
