// Tiles between global and shared memory: 16 bytes per thread and access.
#ifndef FATUNE_KERNELS_FLASH_SM80_TILE_COPY_CUH
#define FATUNE_KERNELS_FLASH_SM80_TILE_COPY_CUH

#include "common/ptx_memory.cuh"
#include "flash_sm80/smem_layout.cuh"

// Rows that a block's threads copy at once, 16 bytes each: a power of two, so that passes divide
// every tile. With 12 chunks in a row (d_head 96) a quarter of the warps has none.
constexpr int rows_per_pass(int threads, int chunks_per_row) {
  int rows = 1;
  while (2 * rows * chunks_per_row <= threads) {
    rows *= 2;
  }
  return rows;
}

// One thread's part of every tile copy: its chunk of a row, and every kRowsPerPass-th row from its
// first one. Where kRowsPerPass is a multiple of eight the swizzle is the same for all of them.
template <typename S>
struct CopyLane {
  static constexpr int kRowsPerPass = rows_per_pass(S::kThreads, S::kChunksPerRow);

  int row;       // first row within a tile
  int g_offset;  // elements from the tile's first element in global memory: of Q
  int s_offset;  // bytes from the tile's start in shared memory

  __device__ __forceinline__ explicit CopyLane(int thread)
      : row(thread / S::kChunksPerRow),
        g_offset(row * kRowStride + thread % S::kChunksPerRow * 8),
        s_offset(chunk_offset<S>(row, thread % S::kChunksPerRow)) {}

  // As g_offset, of a tensor whose rows are kStride elements apart.
  template <int kStride>
  __device__ __forceinline__ int offset_in() const {
    return kStride == kRowStride ? g_offset : g_offset + row * (kStride - kRowStride);
  }
  // As s_offset, from the first row of a pass. Passes of four rows (d_head 256) meet the two halves
  // of the swizzle by turns.
  __device__ __forceinline__ int pass_offset(int pass) const {
    return S::kSwizzled && kRowsPerPass < 8 ? s_offset ^ 16 * (pass * kRowsPerPass & 7) : s_offset;
  }
  // Whether this thread copies at all.
  __device__ __forceinline__ bool copies() const {
    return kRowsPerPass * S::kChunksPerRow == S::kThreads || row < kRowsPerPass;
  }
};

// Copies a tile of kRows positions, kStride elements apart, from global to shared memory; with
// kGuarded, rows from rows_left on are filled with zeros and not read.
// shape:   g: element [row, chunk] of this thread in the tile (CopyLane::offset_in applied);
//          s: shared address of the tile [kRows, kHeadDim]
// threads: the whole block
// sync:    asynchronous when kAsync: visible after cp_async_wait_all() and __syncthreads();
//          else after __syncthreads()
template <typename S, int kRows, int kStride, bool kAsync, bool kGuarded>
__device__ __forceinline__ void copy_tile(unsigned s, const unsigned short* g,
                                          const CopyLane<S>& lane, int rows_left) {
  constexpr int kPasses = kRows / CopyLane<S>::kRowsPerPass;
  static_assert(kRows % CopyLane<S>::kRowsPerPass == 0, "a copy pass must divide the tile");
  if (!lane.copies()) {
    return;
  }
#pragma unroll
  for (int pass = 0; pass < kPasses; ++pass) {
    const int row = pass * CopyLane<S>::kRowsPerPass;
    const unsigned to = s + lane.pass_offset(pass) + row * S::kRowBytes;
    const unsigned short* from = g + row * kStride;
    const bool valid = !kGuarded || lane.row + row < rows_left;
    if constexpr (kAsync && kGuarded) {
      cp_async_16_or_zero(to, valid ? from : g - lane.template offset_in<kStride>(), valid);
    } else if constexpr (kAsync) {
      cp_async_16(to, from);
    } else {
      st_shared_16(to, valid ? ld_global_16(from) : make_uint4(0, 0, 0, 0));
    }
  }
}

#endif
