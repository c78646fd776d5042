// Copies of boxes of a tensor between global and shared memory (TMA): one thin function per
// instruction.
// source: PTX ISA, "cp.async.bulk.tensor", "Tensor maps"
#ifndef FATUNE_KERNELS_COMMON_PTX_TMA_CUH
#define FATUNE_KERNELS_COMMON_PTX_TMA_CUH

// What cuTensorMapEncodeTiled makes: opaque.
struct alignas(64) TensorMap {
  unsigned char bytes[128];
};

// Where a box begins in its tensor: its first element, the innermost dimension first.
struct Coordinates5 {
  int x0, x1, x2, x3, x4;
};

__device__ __forceinline__ void prefetch_tensor_map(const TensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

// Starts to copy the box to shared memory; what is outside of the tensor becomes 0. Its bytes count
// in `barrier`'s phase.
__device__ __forceinline__ void tma_load(unsigned to, const TensorMap* map, Coordinates5 at,
                                         unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4, %5, %6, %7}], [%2];" ::"r"(to),
      "l"(map), "r"(barrier), "r"(at.x0), "r"(at.x1), "r"(at.x2), "r"(at.x3), "r"(at.x4)
      : "memory");
}

// tma_load into every block of the cluster whose rank's bit is set in `blocks`, at the same place,
// with the same place's barrier.
__device__ __forceinline__ void tma_load_multicast(unsigned to, const TensorMap* map,
                                                   Coordinates5 at, unsigned barrier,
                                                   unsigned short blocks) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%3, %4, %5, %6, %7}], [%2], %8;" ::"r"(to),
      "l"(map), "r"(barrier), "r"(at.x0), "r"(at.x1), "r"(at.x2), "r"(at.x3), "r"(at.x4),
      "h"(blocks)
      : "memory");
}

// Starts to copy the box to global memory; what is outside of the tensor is not written.
// sync:    in: written by this thread, or fence_async_proxy() by the writers and a barrier
__device__ __forceinline__ void tma_store(const TensorMap* map, Coordinates5 at, unsigned from) {
  asm volatile(
      "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group "
      "[%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(map),
      "r"(from), "r"(at.x0), "r"(at.x1), "r"(at.x2), "r"(at.x3), "r"(at.x4)
      : "memory");
}

// The stores that this thread has started make a group.
__device__ __forceinline__ void tma_store_commit() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Until all of this thread's groups have read their shared memory.
__device__ __forceinline__ void tma_store_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

// Shows this thread's writes to shared memory to TMA and wgmma.
__device__ __forceinline__ void fence_async_proxy() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

#endif
