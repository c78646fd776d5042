// Tiles between global and shared memory: 16 bytes per thread and access.
#ifndef FATUNE_KERNELS_FLASH_SM80_TILE_COPY_CUH
#define FATUNE_KERNELS_FLASH_SM80_TILE_COPY_CUH

#include "common/ptx_memory.cuh"
#include "flash_sm80/smem_layout.cuh"

// One thread's part of every tile copy: its chunk of a row, and every kRowsPerPass-th row from its
// first one. kRowsPerPass is a multiple of eight, so the swizzle is the same for all of them.
template <typename S>
struct CopyLane {
  static constexpr int kRowsPerPass = S::kThreads / S::kChunksPerRow;

  int row;       // first row within a tile
  int g_offset;  // elements from the tile's first element in global memory
  int s_offset;  // bytes from the tile's start in shared memory

  __device__ __forceinline__ explicit CopyLane(int thread)
      : row(thread / S::kChunksPerRow),
        g_offset(row * kRowStride + thread % S::kChunksPerRow * 8),
        s_offset(chunk_offset<S>(row, thread % S::kChunksPerRow)) {}
};

// Copies a tile of kRows positions from global to shared memory; with kGuarded, rows from
// rows_left on are filled with zeros and not read.
// shape:   g: element [row, chunk] of this thread in the tile (CopyLane::g_offset applied);
//          s: shared address of the tile [kRows, kHeadDim]
// threads: the whole block
// sync:    asynchronous when kAsync: visible after cp_async_wait_all() and __syncthreads();
//          else after __syncthreads()
template <typename S, int kRows, bool kAsync, bool kGuarded>
__device__ __forceinline__ void copy_tile(unsigned s, const unsigned short* g,
                                          const CopyLane<S>& lane, int rows_left) {
  constexpr int kPasses = kRows / CopyLane<S>::kRowsPerPass;
  static_assert(kRows % CopyLane<S>::kRowsPerPass == 0, "a copy pass must divide the tile");
#pragma unroll
  for (int pass = 0; pass < kPasses; ++pass) {
    const int row = pass * CopyLane<S>::kRowsPerPass;
    const unsigned to = s + lane.s_offset + row * S::kRowBytes;
    const unsigned short* from = g + row * kRowStride;
    const bool valid = !kGuarded || lane.row + row < rows_left;
    if constexpr (kAsync && kGuarded) {
      cp_async_16_or_zero(to, valid ? from : g - lane.g_offset, valid);
    } else if constexpr (kAsync) {
      cp_async_16(to, from);
    } else {
      st_shared_16(to, valid ? ld_global_16(from) : make_uint4(0, 0, 0, 0));
    }
  }
}

#endif
