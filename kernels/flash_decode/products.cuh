// Matrix products of a warpgroup with few columns, the packed rows of Q.
#ifndef FATUNE_KERNELS_FLASH_DECODE_PRODUCTS_CUH
#define FATUNE_KERNELS_FLASH_DECODE_PRODUCTS_CUH

#include "common/ptx_math.cuh"
#include "common/ptx_memory.cuh"
#include "common/ptx_wgmma.cuh"

#define FATUNE_DECODE_SUMS_8 "%0, %1, %2, %3"
#define FATUNE_DECODE_SUMS_16 FATUNE_SUMS_1
#define FATUNE_DECODE_SUMS_32 FATUNE_SUMS_2
#define FATUNE_DECODE_SUMS_64 FATUNE_SUMS_4
#define FATUNE_DECODE_SUMS_128 FATUNE_SUMS_8
#define FATUNE_DECODE_OPERANDS_8 "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
#define FATUNE_DECODE_OPERANDS_16 FATUNE_OPERANDS_1
#define FATUNE_DECODE_OPERANDS_32 FATUNE_OPERANDS_2
#define FATUNE_DECODE_OPERANDS_64 FATUNE_OPERANDS_4
#define FATUNE_DECODE_OPERANDS_128 FATUNE_OPERANDS_8
#define FATUNE_DECODE_PRODUCT(N, TYPE, A, B, ADD, TRANS)                                    \
  asm volatile("{\n\t.reg .pred add;\n\tsetp.ne.b32 add, " ADD                              \
               ", 0;\n\twgmma.mma_async.sync.aligned.m64n" #N "k16.f32." TYPE "." TYPE      \
               " {" FATUNE_DECODE_SUMS_##N "}, " A ", " B ", add, 1, 1, " TRANS ", 0;\n\t}" \
               : FATUNE_DECODE_OPERANDS_##N                                                 \
               : "l"(a), "l"(b), "r"(add))
#define FATUNE_DECODE_PRODUCT_8(TYPE)                                                      \
  asm volatile(                                                                            \
      "{\n\t.reg .pred add;\n\tsetp.ne.b32 add, %9, 0;\n\t"                                \
      "wgmma.mma_async.sync.aligned.m64n8k16.f32." TYPE "." TYPE " {" FATUNE_DECODE_SUMS_8 \
      "}, {%4, %5, %6, %7}, %8, add, 1, 1, 0;\n\t}"                                        \
      : FATUNE_DECODE_OPERANDS_8                                                           \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add))
#define FATUNE_FOR_EACH_PRODUCT(CASE) \
  CASE(8, "%4", "%5", "%6")           \
  CASE(16, "%8", "%9", "%10")         \
  CASE(32, "%16", "%17", "%18")       \
  CASE(64, "%32", "%33", "%34")       \
  CASE(128, "%64", "%65", "%66")

// d = a * b, or d += a * b where `add` is not 0.
// shape:   d [64, kColumns] fp32, as of wgmma_shared; a: descriptor of [64, 16], K-major, or with
// kTransposed stored with
//          its 64 rows side by side; b: descriptor of [kColumns, 16], K-major
template <bool kIsBf16, int kColumns, bool kTransposed>
__device__ __forceinline__ void product(float (&d)[kColumns / 2], unsigned long long a,
                                        unsigned long long b, int add) {
#define FATUNE_CASE(N, A, B, ADD)                       \
  if constexpr (kColumns == N) {                        \
    if constexpr (kIsBf16 && kTransposed) {             \
      FATUNE_DECODE_PRODUCT(N, "bf16", A, B, ADD, "1"); \
    } else if constexpr (kIsBf16) {                     \
      FATUNE_DECODE_PRODUCT(N, "bf16", A, B, ADD, "0"); \
    } else if constexpr (kTransposed) {                 \
      FATUNE_DECODE_PRODUCT(N, "f16", A, B, ADD, "1");  \
    } else {                                            \
      FATUNE_DECODE_PRODUCT(N, "f16", A, B, ADD, "0");  \
    }                                                   \
  }
  FATUNE_FOR_EACH_PRODUCT(FATUNE_CASE)
#undef FATUNE_CASE
}

// As above, with a in registers.
// shape:   a: as of wgmma_registers
template <bool kIsBf16, int kColumns>
__device__ __forceinline__ void product(float (&d)[kColumns / 2], const unsigned (&a)[4],
                                        unsigned long long b, int add) {
  if constexpr (kColumns != 8) {
    wgmma_registers<kIsBf16, kColumns, true>(d, a, b, add);
  } else if constexpr (kIsBf16) {
    FATUNE_DECODE_PRODUCT_8("bf16");
  } else {
    FATUNE_DECODE_PRODUCT_8("f16");
  }
}

// Stores 8x8 matrices of 16-bit elements transposed: as stmatrix_x4, but r[i] has rows 2 * (lane %
// 4) + {0, 1} of column lane / 4 of what is stored.
__device__ __forceinline__ void stmatrix_x4_trans(unsigned row, unsigned r0, unsigned r1,
                                                  unsigned r2, unsigned r3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row),
               "r"(r0), "r"(r1), "r"(r2), "r"(r3)
               : "memory");
}
__device__ __forceinline__ void stmatrix_x2_trans(unsigned row, unsigned r0, unsigned r1) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(row), "r"(r0),
               "r"(r1)
               : "memory");
}

// Stores accumulators of a product transposed, rounded to 16 bits.
// shape:   panel: [rows][64], the product's 64 rows side by side; element(i): accumulator i
// threads: the warpgroup
template <typename S, bool kToBf16, typename Element>
__device__ __forceinline__ void store_transposed(unsigned panel, const Element& element) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int chunk = static_cast<int>(threadIdx.x) / 32 * 2 + lane / 8 % 2;
  const auto packed = [&](int j, int h) {
    return cvt_rn_x2<kToBf16>(element(4 * j + 2 * h), element(4 * j + 2 * h + 1));
  };
  if constexpr (S::kRows == 8) {
    const int row = lane % 8;
    stmatrix_x2_trans(panel + row * 128 + 16 * (chunk ^ row), packed(0, 0), packed(0, 1));
  } else {
#pragma unroll
    for (int j = 0; j < S::kRows / 8; j += 2) {
      const int row = 8 * j + lane / 16 * 8 + lane % 8;
      stmatrix_x4_trans(panel + row * 128 + 16 * (chunk ^ lane % 8), packed(j, 0), packed(j, 1),
                        packed(j + 1, 0), packed(j + 1, 1));
    }
  }
}

// As store_transposed, where the thread's two rows of each 16 of the product are neighbours: 2 *
// (lane / 4) and the next, instead of lane / 4 and the one 8 behind it.
template <typename S, typename Element>
__device__ __forceinline__ void store_neighbours(unsigned panel, const Element& element) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int word = static_cast<int>(threadIdx.x) / 32 * 8 + lane / 4;
#pragma unroll
  for (int i = 0; i < S::kRows / 4; ++i) {
    const int row = i / 2 * 8 + lane % 4 * 2 + i % 2;
    const int first = i / 2 * 4 + i % 2;
    st_shared_4(panel + row * 128 + 16 * (word / 4 ^ row % 8) + word % 4 * 4,
                cvt_rn_x2<S::kIsBf16>(element(first), element(first + 2)));
  }
}

#endif
