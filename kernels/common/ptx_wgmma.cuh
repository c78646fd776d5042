// Matrix products of a warpgroup (wgmma): one thin function per instruction.
// source: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions"
#ifndef FATUNE_KERNELS_COMMON_PTX_WGMMA_CUH
#define FATUNE_KERNELS_COMMON_PTX_WGMMA_CUH

// Orders register accesses before those of the next product. threads: one converged warpgroup, for
// this and all functions below
__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

// Makes a group of the products since the last call.
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Waits until at most kPending groups are pending.
template <int kPending>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

// Compiler fence: uses of the accumulators `d` stay behind the wgmma_wait() above this call. The
// wait itself does not name them.
template <int kCount>
__device__ __forceinline__ void after_wait(float (&d)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    asm volatile("" : "+f"(d[i])::"memory");
  }
}

template <int kRegisters>
__device__ __forceinline__ void registers_give() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ __forceinline__ void registers_take() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

// The sums' registers as text, and as operands, eight for every 16 columns; 4_5 stands for 4.5.
#define FATUNE_SUMS_1 "%0, %1, %2, %3, %4, %5, %6, %7"
#define FATUNE_SUMS_2 FATUNE_SUMS_1 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define FATUNE_SUMS_3 FATUNE_SUMS_2 ", %16, %17, %18, %19, %20, %21, %22, %23"
#define FATUNE_SUMS_4 FATUNE_SUMS_3 ", %24, %25, %26, %27, %28, %29, %30, %31"
#define FATUNE_SUMS_5 FATUNE_SUMS_4 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define FATUNE_SUMS_6 FATUNE_SUMS_5 ", %40, %41, %42, %43, %44, %45, %46, %47"
#define FATUNE_SUMS_7 FATUNE_SUMS_6 ", %48, %49, %50, %51, %52, %53, %54, %55"
#define FATUNE_SUMS_8 FATUNE_SUMS_7 ", %56, %57, %58, %59, %60, %61, %62, %63"
#define FATUNE_SUMS_9 FATUNE_SUMS_8 ", %64, %65, %66, %67, %68, %69, %70, %71"
#define FATUNE_SUMS_10 FATUNE_SUMS_9 ", %72, %73, %74, %75, %76, %77, %78, %79"
#define FATUNE_SUMS_11 FATUNE_SUMS_10 ", %80, %81, %82, %83, %84, %85, %86, %87"
#define FATUNE_SUMS_12 FATUNE_SUMS_11 ", %88, %89, %90, %91, %92, %93, %94, %95"
#define FATUNE_SUMS_13 FATUNE_SUMS_12 ", %96, %97, %98, %99, %100, %101, %102, %103"
#define FATUNE_SUMS_14 FATUNE_SUMS_13 ", %104, %105, %106, %107, %108, %109, %110, %111"
#define FATUNE_SUMS_15 FATUNE_SUMS_14 ", %112, %113, %114, %115, %116, %117, %118, %119"
#define FATUNE_SUMS_16 FATUNE_SUMS_15 ", %120, %121, %122, %123, %124, %125, %126, %127"
#define FATUNE_SUMS_4_5 FATUNE_SUMS_4 ", %32, %33, %34, %35"
#define FATUNE_EIGHT(i)                                                               \
  "+f"(d[i]), "+f"(d[(i) + 1]), "+f"(d[(i) + 2]), "+f"(d[(i) + 3]), "+f"(d[(i) + 4]), \
      "+f"(d[(i) + 5]), "+f"(d[(i) + 6]), "+f"(d[(i) + 7])
#define FATUNE_OPERANDS_1 FATUNE_EIGHT(0)
#define FATUNE_OPERANDS_2 FATUNE_OPERANDS_1, FATUNE_EIGHT(8)
#define FATUNE_OPERANDS_3 FATUNE_OPERANDS_2, FATUNE_EIGHT(16)
#define FATUNE_OPERANDS_4 FATUNE_OPERANDS_3, FATUNE_EIGHT(24)
#define FATUNE_OPERANDS_5 FATUNE_OPERANDS_4, FATUNE_EIGHT(32)
#define FATUNE_OPERANDS_6 FATUNE_OPERANDS_5, FATUNE_EIGHT(40)
#define FATUNE_OPERANDS_7 FATUNE_OPERANDS_6, FATUNE_EIGHT(48)
#define FATUNE_OPERANDS_8 FATUNE_OPERANDS_7, FATUNE_EIGHT(56)
#define FATUNE_OPERANDS_9 FATUNE_OPERANDS_8, FATUNE_EIGHT(64)
#define FATUNE_OPERANDS_10 FATUNE_OPERANDS_9, FATUNE_EIGHT(72)
#define FATUNE_OPERANDS_11 FATUNE_OPERANDS_10, FATUNE_EIGHT(80)
#define FATUNE_OPERANDS_12 FATUNE_OPERANDS_11, FATUNE_EIGHT(88)
#define FATUNE_OPERANDS_13 FATUNE_OPERANDS_12, FATUNE_EIGHT(96)
#define FATUNE_OPERANDS_14 FATUNE_OPERANDS_13, FATUNE_EIGHT(104)
#define FATUNE_OPERANDS_15 FATUNE_OPERANDS_14, FATUNE_EIGHT(112)
#define FATUNE_OPERANDS_16 FATUNE_OPERANDS_15, FATUNE_EIGHT(120)
#define FATUNE_OPERANDS_4_5 FATUNE_OPERANDS_4, "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35])

// N = 16 * SIXTEENS columns. KIND: depth and types; ENDING: operands after the scale of d, as text.
// A0 ...: places of the operands after the accumulators.
#define FATUNE_WGMMA_SHARED(N, SIXTEENS, KIND, ENDING, A, B, ADD)                              \
  asm volatile("{\n\t.reg .pred add;\n\tsetp.ne.b32 add, " ADD                                 \
               ", 0;\n\twgmma.mma_async.sync.aligned.m64n" #N KIND " {" FATUNE_SUMS_##SIXTEENS \
               "}, " A ", " B ", add, 1, 1" ENDING ";\n\t}"                                    \
               : FATUNE_OPERANDS_##SIXTEENS                                                    \
               : "l"(a), "l"(b), "r"(add))
#define FATUNE_WGMMA_REGISTERS(N, SIXTEENS, KIND, ENDING, A0, A1, A2, A3, B, ADD)              \
  asm volatile("{\n\t.reg .pred add;\n\tsetp.ne.b32 add, " ADD                                 \
               ", 0;\n\twgmma.mma_async.sync.aligned.m64n" #N KIND " {" FATUNE_SUMS_##SIXTEENS \
               "}, {" A0 ", " A1 ", " A2 ", " A3 "}, " B ", add, 1, 1" ENDING ";\n\t}"         \
               : FATUNE_OPERANDS_##SIXTEENS                                                    \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add))

// For each number of columns: CASE(N, SIXTEENS, and the places of up to six operands).
#define FATUNE_FOR_EACH_WGMMA(CASE)                             \
  CASE(16, 1, "%8", "%9", "%10", "%11", "%12", "%13")           \
  CASE(32, 2, "%16", "%17", "%18", "%19", "%20", "%21")         \
  CASE(48, 3, "%24", "%25", "%26", "%27", "%28", "%29")         \
  CASE(64, 4, "%32", "%33", "%34", "%35", "%36", "%37")         \
  CASE(72, 4_5, "%36", "%37", "%38", "%39", "%40", "%41")       \
  CASE(80, 5, "%40", "%41", "%42", "%43", "%44", "%45")         \
  CASE(96, 6, "%48", "%49", "%50", "%51", "%52", "%53")         \
  CASE(112, 7, "%56", "%57", "%58", "%59", "%60", "%61")        \
  CASE(128, 8, "%64", "%65", "%66", "%67", "%68", "%69")        \
  CASE(144, 9, "%72", "%73", "%74", "%75", "%76", "%77")        \
  CASE(160, 10, "%80", "%81", "%82", "%83", "%84", "%85")       \
  CASE(176, 11, "%88", "%89", "%90", "%91", "%92", "%93")       \
  CASE(192, 12, "%96", "%97", "%98", "%99", "%100", "%101")     \
  CASE(208, 13, "%104", "%105", "%106", "%107", "%108", "%109") \
  CASE(224, 14, "%112", "%113", "%114", "%115", "%116", "%117") \
  CASE(240, 15, "%120", "%121", "%122", "%123", "%124", "%125") \
  CASE(256, 16, "%128", "%129", "%130", "%131", "%132", "%133")

// d = a * b, or d += a * b where `add` is not 0.
// shape:   d [64, kColumns] fp32: d[i] is row 16 * warp + lane / 4 + 8 * (i / 2 % 2), column
//          8 * (i / 4) + 2 * (lane % 4) + i % 2; a: descriptor of [64, 16], K-major; b: descriptor
//          of [kColumns, 16], K-major
template <bool kIsBf16, int kColumns>
__device__ __forceinline__ void wgmma_shared(float* d, unsigned long long a, unsigned long long b,
                                             int add) {
#define FATUNE_CASE(N, SIXTEENS, P0, P1, P2, P3, P4, P5)                           \
  if constexpr (kColumns == N) {                                                   \
    if constexpr (kIsBf16) {                                                       \
      FATUNE_WGMMA_SHARED(N, SIXTEENS, "k16.f32.bf16.bf16", ", 0, 0", P0, P1, P2); \
    } else {                                                                       \
      FATUNE_WGMMA_SHARED(N, SIXTEENS, "k16.f32.f16.f16", ", 0, 0", P0, P1, P2);   \
    }                                                                              \
  }
  FATUNE_FOR_EACH_WGMMA(FATUNE_CASE)
#undef FATUNE_CASE
}

// As above, with a in registers, and b either K-major too or with its columns side by side.
// shape:   a[j]: elements of row 16 * warp + lane / 4 + 8 * (j % 2), columns
//          8 * (j / 2) + 2 * (lane % 4) + {0, 1}; b: descriptor of [kColumns, 16], K-major, or of
//          [16, kColumns]
template <bool kIsBf16, int kColumns, bool kIsKMajor = false>
__device__ __forceinline__ void wgmma_registers(float* d, const unsigned* a, unsigned long long b,
                                                int add) {
#define FATUNE_CASE(N, SIXTEENS, P0, P1, P2, P3, P4, P5)                                       \
  if constexpr (kColumns == N) {                                                               \
    if constexpr (kIsBf16 && kIsKMajor) {                                                      \
      FATUNE_WGMMA_REGISTERS(N, SIXTEENS, "k16.f32.bf16.bf16", ", 0", P0, P1, P2, P3, P4, P5); \
    } else if constexpr (kIsBf16) {                                                            \
      FATUNE_WGMMA_REGISTERS(N, SIXTEENS, "k16.f32.bf16.bf16", ", 1", P0, P1, P2, P3, P4, P5); \
    } else if constexpr (kIsKMajor) {                                                          \
      FATUNE_WGMMA_REGISTERS(N, SIXTEENS, "k16.f32.f16.f16", ", 0", P0, P1, P2, P3, P4, P5);   \
    } else {                                                                                   \
      FATUNE_WGMMA_REGISTERS(N, SIXTEENS, "k16.f32.f16.f16", ", 1", P0, P1, P2, P3, P4, P5);   \
    }                                                                                          \
  }
  FATUNE_FOR_EACH_WGMMA(FATUNE_CASE)
#undef FATUNE_CASE
}

// Descriptor of a tile in shared memory with the 128-byte swizzle, lines of 64 elements.
// shape:   leading_bytes: to the next 64 columns where a product takes columns side by side, else
//          unused; kEightLinesBytes: from eight lines, 1024 bytes, to the next eight
template <unsigned kEightLinesBytes = 1024>
__device__ __forceinline__ unsigned long long swizzled_descriptor(unsigned address,
                                                                  unsigned leading_bytes) {
  constexpr unsigned long long kSwizzle128 = 1ull << 62;
  constexpr unsigned long long kEightLines = static_cast<unsigned long long>(kEightLinesBytes / 16)
                                             << 32;
  return kSwizzle128 | kEightLines | static_cast<unsigned long long>(leading_bytes / 16) << 16 |
         (address & 0x3ffffu) >> 4;
}

#endif
