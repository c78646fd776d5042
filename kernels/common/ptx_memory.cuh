// Copies between global memory, shared memory and registers: one thin function per instruction.
// source: PTX ISA, "Data movement and conversion instructions"
#ifndef FATUNE_KERNELS_COMMON_PTX_MEMORY_CUH
#define FATUNE_KERNELS_COMMON_PTX_MEMORY_CUH

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// Starts copying 16 bytes from global to shared memory, past L1.
// sync:    lands before cp_async_wait_all() of this thread returns
__device__ __forceinline__ void cp_async_16(unsigned shared, const void* global) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(shared), "l"(global)
               : "memory");
}

// As cp_async_16, but writes zeros and reads nothing unless `valid`.
__device__ __forceinline__ void cp_async_16_or_zero(unsigned shared, const void* global,
                                                    bool valid) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(shared), "l"(global),
               "r"(valid ? 16 : 0)
               : "memory");
}

__device__ __forceinline__ void cp_async_wait_all() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

__device__ __forceinline__ uint4 ld_global_16(const void* global) {
  uint4 v;
  asm volatile("ld.global.nc.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(global));
  return v;
}

// What other threads of the GPU wrote before a release that this sees is seen after it.
__device__ __forceinline__ int ld_global_acquire(const int* global) {
  int v;
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(global) : "memory");
  return v;
}

// Other threads of the GPU may access the same word by atomics, loads and stores of this kind.
__device__ __forceinline__ void st_global_relaxed(int* global, int v) {
  asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" ::"l"(global), "r"(v) : "memory");
}

__device__ __forceinline__ uint4 ld_shared_16(unsigned shared) {
  uint4 v;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "r"(shared)
               : "memory");
  return v;
}

__device__ __forceinline__ void st_shared_16(unsigned shared, uint4 v) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(shared), "r"(v.x), "r"(v.y),
               "r"(v.z), "r"(v.w)
               : "memory");
}

__device__ __forceinline__ unsigned ld_shared_4(unsigned shared) {
  unsigned v;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(shared) : "memory");
  return v;
}

__device__ __forceinline__ void st_shared_8(unsigned shared, unsigned first, unsigned second) {
  asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(shared), "r"(first), "r"(second)
               : "memory");
}

__device__ __forceinline__ void st_shared_4(unsigned shared, unsigned v) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(shared), "r"(v) : "memory");
}

// The same address of block `rank` of the cluster.
__device__ __forceinline__ unsigned cluster_address(unsigned shared, unsigned rank) {
  unsigned remote;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(shared), "r"(rank));
  return remote;
}

// Stores to a cluster_address().
__device__ __forceinline__ void st_cluster_4(unsigned remote, unsigned v) {
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(remote), "r"(v) : "memory");
}
__device__ __forceinline__ void st_cluster_16(unsigned remote, float4 v) {
  asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(remote), "f"(v.x),
               "f"(v.y), "f"(v.z), "f"(v.w)
               : "memory");
}

// The output is never read again by the kernel: it takes no line in L1.
__device__ __forceinline__ void st_global_16_no_l1(void* global, uint4 v) {
  asm volatile("st.global.L1::no_allocate.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(global), "r"(v.x),
               "r"(v.y), "r"(v.z), "r"(v.w)
               : "memory");
}

#endif
