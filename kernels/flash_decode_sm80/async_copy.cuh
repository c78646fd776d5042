// Groups of asynchronous copies: one thin function per instruction.
// source: PTX ISA, "cp.async.commit_group", "cp.async.wait_group"
#ifndef FATUNE_KERNELS_FLASH_DECODE_SM80_ASYNC_COPY_CUH
#define FATUNE_KERNELS_FLASH_DECODE_SM80_ASYNC_COPY_CUH

// Makes a group of the copies that the thread has started since the last one; there may be none.
__device__ __forceinline__ void cp_async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until at most the last kPending of the thread's groups are under way.
template <int kPending>
__device__ __forceinline__ void cp_async_wait_group() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

#endif
