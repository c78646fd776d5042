// Products of a block by mma.sync: each of its eight warps has 64 rows and 64 columns.
#ifndef FATUNE_KERNELS_REFERENCE_MATMUL_MMA_CUH
#define FATUNE_KERNELS_REFERENCE_MATMUL_MMA_CUH

#include "common/ptx_mma.cuh"
#include "reference/matmul_operands.cuh"

class MatmulSums {
 public:
  static __device__ __forceinline__ void publish_operands() {}

  // threads: a warp, converged
  __device__ __forceinline__ void add(unsigned a, unsigned b, int products) {
#pragma unroll 1
    for (int done = 0; done < products; ++done) {
#pragma unroll
      for (int step = 0; step < kMatmulDepth / 16; ++step) {
        add_step(a, b, step);
      }
    }
  }

  __device__ __forceinline__ void store(float* target) const {
#pragma unroll
    for (int i = 0; i < kRowTiles; ++i) {
#pragma unroll
      for (int j = 0; j < kColumnTiles; ++j) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          const int row = first_row_ + 16 * i + lane_ / 4 + 8 * (k / 2);
          const int column = first_column_ + 8 * j + 2 * (lane_ % 4) + k % 2;
          target[row * kMatmulColumns + column] = sums_[i][j][k];
        }
      }
    }
  }

 private:
  static constexpr int kWarpTile = 64;
  static constexpr int kRowTiles = kWarpTile / 16;
  static constexpr int kColumnTiles = kWarpTile / 8;
  static constexpr int kWarpsAcross = kMatmulColumns / kWarpTile;
  static_assert(kMatmulThreads == 32 * kWarpsAcross * (kMatmulRows / kWarpTile), "eight warps");

  // 16 of the depth.
  __device__ __forceinline__ void add_step(unsigned a, unsigned b, int step) {
    unsigned rows[kRowTiles][4];
#pragma unroll
    for (int i = 0; i < kRowTiles; ++i) {
      ldmatrix_x4(rows[i],
                  a + operand_offset(first_row_ + 16 * i + lane_ % 16, 2 * step + lane_ / 16));
    }
#pragma unroll
    for (int j = 0; j < kColumnTiles; j += 2) {
      unsigned columns[4];  // two registers for each of two tiles
      ldmatrix_x4(columns, b + operand_offset(first_column_ + 8 * j + lane_ % 8 + lane_ / 16 * 8,
                                              2 * step + lane_ / 8 % 2));
#pragma unroll
      for (int i = 0; i < kRowTiles; ++i) {
        mma_m16n8k16<kIsBf16>(sums_[i][j], rows[i], columns[0], columns[1]);
        mma_m16n8k16<kIsBf16>(sums_[i][j + 1], rows[i], columns[2], columns[3]);
      }
    }
  }

  const int lane_ = threadIdx.x % 32;
  const int first_row_ = threadIdx.x / 32 / kWarpsAcross * kWarpTile;
  const int first_column_ = threadIdx.x / 32 % kWarpsAcross * kWarpTile;
  float sums_[kRowTiles][kColumnTiles][4] = {};
};

#endif
