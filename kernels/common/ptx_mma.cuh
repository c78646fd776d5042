// Warp-level matrix instructions: one thin function per instruction, under the ISA's name.
// source: PTX ISA, "Warp-level matrix instructions"
#ifndef FATUNE_KERNELS_COMMON_PTX_MMA_CUH
#define FATUNE_KERNELS_COMMON_PTX_MMA_CUH

// Loads four 8x8 matrices of 16-bit elements.
// shape:   lane l names row l%8 of matrix l/8 (16 bytes at row_addr); r[i] gets two neighbouring
//          elements of matrix i: row lane/4, columns 2*(lane%4)+{0,1}
// threads: one warp, converged
__device__ __forceinline__ void ldmatrix_x4(unsigned (&r)[4], unsigned row_addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(row_addr));
}

// As ldmatrix_x4, each matrix transposed: r[i] gets column lane/4, rows 2*(lane%4)+{0,1}.
__device__ __forceinline__ void ldmatrix_x4_trans(unsigned (&r)[4], unsigned row_addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(row_addr));
}

// Stores four 8x8 matrices of 16-bit elements.
// shape:   lane l names row l%8 of matrix l/8 (16 bytes at `row`); r[i]: two neighbouring elements
//          of matrix i, row lane/4, columns 2*(lane%4)+{0,1}
// threads: one warp, converged
__device__ __forceinline__ void stmatrix_x4(unsigned row, const unsigned (&r)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row),
               "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
               : "memory");
}

// d += a * b for one 16x8 tile, k = 16, fp32 accumulation.
// shape:   a: 16x16, row-major; b: 16x8, column-major; d[i]: row lane/4 + 8*(i/2),
//          column 2*(lane%4) + i%2
// threads: one warp, converged
template <bool kIsBf16>
__device__ __forceinline__ void mma_m16n8k16(float (&d)[4], const unsigned (&a)[4], unsigned b0,
                                             unsigned b1) {
  if constexpr (kIsBf16) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  } else {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
}

#endif
