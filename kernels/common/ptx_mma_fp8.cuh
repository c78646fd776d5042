// Matrix products of e4m3, of a warpgroup (wgmma) and of a warp: one thin function per instruction.
// Operands are K-major, which is all that PTX has for 8 bits.
// source: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions", "Warp-level matrix
//         instructions"
#ifndef FATUNE_KERNELS_COMMON_PTX_MMA_FP8_CUH
#define FATUNE_KERNELS_COMMON_PTX_MMA_FP8_CUH

#include "common/ptx_wgmma.cuh"

// Sums of 8.5 times 16 columns.
#define FATUNE_SUMS_8_5 FATUNE_SUMS_8 ", %64, %65, %66, %67"
#define FATUNE_OPERANDS_8_5 FATUNE_OPERANDS_8, "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67])

// For each number of columns, as FATUNE_FOR_EACH_WGMMA.
#define FATUNE_FOR_EACH_WGMMA_FP8(CASE)                         \
  CASE(32, 2, "%16", "%17", "%18", "%19", "%20", "%21")         \
  CASE(64, 4, "%32", "%33", "%34", "%35", "%36", "%37")         \
  CASE(72, 4_5, "%36", "%37", "%38", "%39", "%40", "%41")       \
  CASE(96, 6, "%48", "%49", "%50", "%51", "%52", "%53")         \
  CASE(128, 8, "%64", "%65", "%66", "%67", "%68", "%69")        \
  CASE(136, 8_5, "%68", "%69", "%70", "%71", "%72", "%73")      \
  CASE(160, 10, "%80", "%81", "%82", "%83", "%84", "%85")       \
  CASE(192, 12, "%96", "%97", "%98", "%99", "%100", "%101")     \
  CASE(224, 14, "%112", "%113", "%114", "%115", "%116", "%117") \
  CASE(256, 16, "%128", "%129", "%130", "%131", "%132", "%133")

// d = a * b, or d += a * b where `add` is not 0.
// shape:   d [64, kColumns] fp32, as of wgmma_shared; a: descriptor of [64, 32], K-major; b:
//          descriptor of [kColumns, 32], K-major
// threads: one converged warpgroup
template <int kColumns>
__device__ __forceinline__ void wgmma_fp8_shared(float* d, unsigned long long a,
                                                 unsigned long long b, int add) {
#define FATUNE_CASE(N, SIXTEENS, P0, P1, P2, P3, P4, P5)                   \
  if constexpr (kColumns == N) {                                           \
    FATUNE_WGMMA_SHARED(N, SIXTEENS, "k32.f32.e4m3.e4m3", "", P0, P1, P2); \
  }
  FATUNE_FOR_EACH_WGMMA_FP8(FATUNE_CASE)
#undef FATUNE_CASE
}

// As above, with a in registers.
// shape:   a[j]: elements of row 16 * warp + lane / 4 + 8 * (j % 2), columns
//          16 * (j / 2) + 4 * (lane % 4) + {0, 1, 2, 3}
// threads: one converged warpgroup
template <int kColumns>
__device__ __forceinline__ void wgmma_fp8_registers(float* d, const unsigned* a,
                                                    unsigned long long b, int add) {
#define FATUNE_CASE(N, SIXTEENS, P0, P1, P2, P3, P4, P5)                                  \
  if constexpr (kColumns == N) {                                                          \
    FATUNE_WGMMA_REGISTERS(N, SIXTEENS, "k32.f32.e4m3.e4m3", "", P0, P1, P2, P3, P4, P5); \
  }
  FATUNE_FOR_EACH_WGMMA_FP8(FATUNE_CASE)
#undef FATUNE_CASE
}

// d += a * b for one 16x8 tile, k = 32, fp32 accumulation.
// shape:   a: 16x32, row-major; b: 32x8, column-major; d[i]: row lane/4 + 8*(i/2),
//          column 2*(lane%4) + i%2
// threads: one warp, converged
__device__ __forceinline__ void mma_m16n8k32_e4m3(float (&d)[4], const unsigned (&a)[4],
                                                  unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

#endif
