// The layout of a tile in shared memory, and the addresses that a lane needs for ldmatrix.
//
// A tile is [rows][kHeadDim] of 16-bit elements, rows back to back. Swizzled, the 16-byte chunk c
// of row r lies at chunk c ^ (r & 7): eight neighbouring rows of one chunk then fall into eight
// different groups of four banks, so that ldmatrix, 16-byte stores and the fragments of O meet no
// bank twice. The XOR never leaves a 128-byte line. Since every tile starts at a multiple of eight
// rows, r & 7 depends on the lane alone: one XOR at the start of the kernel, and each access is a
// lane constant plus an immediate.
//
// Rows of 192 bytes (d_head 96) begin alternately in the lower and upper half of the banks. Two
// neighbouring rows are permuted alike there, within 64 bytes: c ^ (r / 2 & 3). Eight rows of a
// chunk then fall into eight different groups as well.
#ifndef FATUNE_KERNELS_FLASH_SM80_SMEM_LAYOUT_CUH
#define FATUNE_KERNELS_FLASH_SM80_SMEM_LAYOUT_CUH

#include "flash_sm80/config.cuh"

// Byte offset of a 16-byte chunk.
// shape:   row in [0, rows), chunk in [0, kChunksPerRow)
template <typename S>
__device__ __forceinline__ int chunk_offset(int row, int chunk) {
  return row * S::kRowBytes +
         16 * (S::kSwizzled ? chunk ^ (row >> S::kSwizzleShift & (S::kSwizzleChunks - 1)) : chunk);
}

// The addresses at which one lane reads a tile by ldmatrix: x4 loads of 16 rows x 16 columns.
// lane_[i] is where the lane's 16 bytes of columns [16 i, 16 i + 16) of a swizzle's line lie.
template <typename S>
class LdmatrixLane {
 public:
  // row, chunk: the lane's place within the 16 x 16 block (row < 16, chunk < 2).
  __device__ __forceinline__ LdmatrixLane(unsigned tile, int row, int chunk) {
#pragma unroll
    for (int i = 0; i < kBlocks; ++i) {
      lane_[i] = tile + chunk_offset<S>(row, 2 * i + chunk);
    }
  }

  // Address for the block at (first_row, 16 * column_block); both compile-time after unrolling.
  // first_row: a multiple of eight.
  __device__ __forceinline__ unsigned at(int first_row, int column_block) const {
    return lane_[column_block % kBlocks] + first_row * S::kRowBytes +
           32 * kBlocks * (column_block / kBlocks);
  }

 private:
  enum : int { kBlocks = S::kSwizzleChunks / 2 };  // blocks of 16 columns per line

  unsigned lane_[kBlocks];
};

// Lane map for a left operand (Q) and for a transposed right operand (V): register pairs of x4 are
// (rows 0-7, rows 8-15) of the first eight columns, then of the second.
template <typename S>
__device__ __forceinline__ LdmatrixLane<S> row_major_lane(unsigned tile, int lane) {
  return LdmatrixLane<S>(tile, lane % 16, lane / 16);
}

// Lane map for a right operand that is stored n-major (K): the two registers of one mma's B operand
// come out side by side, so no move is needed.
template <typename S>
__device__ __forceinline__ LdmatrixLane<S> column_major_lane(unsigned tile, int lane) {
  return LdmatrixLane<S>(tile, lane % 8 + 8 * (lane / 16), lane / 8 % 2);
}

#endif
