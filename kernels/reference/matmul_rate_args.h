// Arguments and sizes of the kernel that multiplies as fast as the device can. Included by the host
// too; plain C++ types only, no includes.
#ifndef FATUNE_KERNELS_REFERENCE_MATMUL_RATE_ARGS_H
#define FATUNE_KERNELS_REFERENCE_MATMUL_RATE_ARGS_H

// A block multiplies [kMatmulRows, kMatmulDepth] by the transpose of [kMatmulColumns,
// kMatmulDepth].
inline constexpr int kMatmulRows = 128;
inline constexpr int kMatmulColumns = 256;
inline constexpr int kMatmulDepth = 64;
inline constexpr int kMatmulThreads = 256;
// Products that are started together.
inline constexpr int kMatmulGroup = 4;
inline constexpr double kMatmulFlop = 2.0 * kMatmulRows * kMatmulColumns * kMatmulDepth;

struct MatmulRateArgs {
  int products;  // that each block adds up, all of the same operands; a multiple of kMatmulGroup
  // What the first block had and has, for tests, [rows, columns] each; null: it is not written.
  unsigned short* a;  // [kMatmulRows, kMatmulDepth], 16-bit elements
  unsigned short* b;  // [kMatmulColumns, kMatmulDepth]
  float* sums;        // [kMatmulRows, kMatmulColumns]
};

#endif
