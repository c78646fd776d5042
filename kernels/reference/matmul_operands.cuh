// The operands of the products by which a device's rate is measured: tiles in shared memory with
// the 128-byte swizzle that wgmma's descriptors and ldmatrix both read without bank conflicts.
#ifndef FATUNE_KERNELS_REFERENCE_MATMUL_OPERANDS_CUH
#define FATUNE_KERNELS_REFERENCE_MATMUL_OPERANDS_CUH

#include "common/ptx_convert.cuh"
#include "reference/matmul_rate_args.h"
#include "reference/philox.cuh"

inline constexpr bool kIsBf16 = FATUNE_IS_BF16;
inline constexpr int kMatmulRowBytes = 2 * kMatmulDepth;
static_assert(kMatmulRowBytes == 128, "a row is a line of the swizzle");

// Byte offset of eight neighbouring elements of a row, within a tile that is aligned to 1024 bytes.
// shape:   chunk in [0, kMatmulDepth / 8)
__device__ __forceinline__ unsigned operand_offset(int row, int chunk) {
  return row * kMatmulRowBytes + 16 * (chunk ^ (row & 7));
}

// Fills a tile with normal(0, 1) elements, and `copy` with the same in plain rows unless it is
// null. Zeros would not do: products of zeros draw less power, and run faster. threads: the block
__device__ __forceinline__ void fill_operand(unsigned char* tile, int rows, unsigned which,
                                             unsigned short* copy) {
  constexpr int kGroupsPerRow = kMatmulDepth / 4;
  for (int group = threadIdx.x; group < rows * kGroupsPerRow; group += kMatmulThreads) {
    const int row = group / kGroupsPerRow;
    const int column = group % kGroupsPerRow * 4;
    const uint4 bits = philox4x32(make_uint4(group, which, 0, 0), 1);
    const float2 low = normal_pair(bits.x, bits.y);
    const float2 high = normal_pair(bits.z, bits.w);
    const ushort4 elements = make_ushort4(cvt_rn<kIsBf16>(low.x), cvt_rn<kIsBf16>(low.y),
                                          cvt_rn<kIsBf16>(high.x), cvt_rn<kIsBf16>(high.y));
    *reinterpret_cast<ushort4*>(tile + operand_offset(row, column / 8) + column % 8 * 2) = elements;
    if (copy != nullptr) {
      *reinterpret_cast<ushort4*>(copy + row * kMatmulDepth + column) = elements;
    }
  }
}

#endif
