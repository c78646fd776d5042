// What reaches beyond the kernel: time, and memory that the host writes meanwhile.
// source: PTX ISA, "Special Registers: %globaltimer", "ld", "st" with .relaxed.sys
#ifndef FATUNE_KERNELS_COMMON_PTX_SYSTEM_CUH
#define FATUNE_KERNELS_COMMON_PTX_SYSTEM_CUH

// Nanoseconds of a clock that all SMs share; its steps are up to about a microsecond.
__device__ __forceinline__ unsigned long long globaltimer_ns() {
  unsigned long long now_ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now_ns)::"memory");
  return now_ns;
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
