// What reaches beyond the kernel: clocks, the SM it runs on, and memory that the host writes.
// source: PTX ISA, "Special Registers: %clock64, %globaltimer, %smid", "ld", "st" with .relaxed.sys
#ifndef FATUNE_KERNELS_COMMON_PTX_SYSTEM_CUH
#define FATUNE_KERNELS_COMMON_PTX_SYSTEM_CUH

// Nanoseconds of a clock that all SMs share; its steps are up to about a microsecond.
__device__ __forceinline__ unsigned long long globaltimer_ns() {
  unsigned long long now_ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now_ns)::"memory");
  return now_ns;
}

// Index of the SM that the thread runs on.
__device__ __forceinline__ unsigned sm_index() {
  unsigned index;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(index)::"memory");
  return index;
}

// Cycles of the SM's own clock.
__device__ __forceinline__ unsigned long long sm_cycles() {
  unsigned long long cycles;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
  return cycles;
}

__device__ __forceinline__ unsigned ld_relaxed_sys(const unsigned* address) {
  unsigned value;
  asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}

__device__ __forceinline__ void st_relaxed_sys(unsigned* address, unsigned value) {
  asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

#endif
