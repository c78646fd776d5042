// The layout of a tile of Q, K or V in shared memory, and the addresses that a lane needs for
// ldmatrix.
//
// A tile is [rows][kHeadDim] of 16-bit elements, rows back to back. The 16-byte chunk c of row r
// lies at chunk c ^ (r & 7): eight neighbouring rows of one chunk then fall into eight different
// groups of four banks. A tile begins at a multiple of 128 bytes.
#ifndef FATUNE_KERNELS_FLASH_DECODE_SM80_TILE_CUH
#define FATUNE_KERNELS_FLASH_DECODE_SM80_TILE_CUH

#include "flash_decode_sm80/config.cuh"

// Byte offset of a chunk.
template <typename S>
__device__ __forceinline__ unsigned chunk_offset(int row, int chunk) {
  return row * S::kRowBytes + 16 * (chunk ^ (row & 7));
}

// Where one lane reads a tile by ldmatrix: x4 loads of 16 rows x 16 columns.
template <typename S>
class LdmatrixLane {
 public:
  // row, chunk: the lane's place within the 16 x 16 block (row < 16, chunk < 2)
  __device__ __forceinline__ LdmatrixLane(int row, int chunk)
      : offset_(chunk_offset<S>(row, chunk)) {}

  // Address for the block at (first_row, 16 * block) of the tile. first_row: a multiple of eight.
  // Four blocks share a line of 128 bytes, within which the layout permutes.
  __device__ __forceinline__ unsigned at(unsigned tile, int first_row, int block) const {
    return ((tile + offset_) ^ (32 * (block % 4))) + first_row * S::kRowBytes + 128 * (block / 4);
  }

 private:
  unsigned offset_;
};

// Lane map for a left operand (Q) and for a transposed right operand (V): register pairs of x4 are
// (rows 0-7, rows 8-15) of the first eight columns, then of the second.
template <typename S>
__device__ __forceinline__ LdmatrixLane<S> row_major_lane(int lane) {
  return {lane % 16, lane / 16};
}

// Lane map for a right operand that is stored n-major (K): the two registers of one product's B
// come out side by side.
template <typename S>
__device__ __forceinline__ LdmatrixLane<S> column_major_lane(int lane) {
  return {lane % 8 + 8 * (lane / 16), lane / 8 % 2};
}

#endif
