// Copies of boxes of a tensor between global and shared memory (TMA): one thin function per
// instruction.
// source: PTX ISA, "cp.async.bulk.tensor", "Tensor maps"
#ifndef FATUNE_KERNELS_COMMON_PTX_TMA_CUH
#define FATUNE_KERNELS_COMMON_PTX_TMA_CUH

// The opaque result of cuTensorMapEncodeTiled.
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

// What the L2 should do with the lines of a copy.
// source: PTX ISA, "createpolicy": the encoding of a fractional policy for all lines
enum class L2Policy : unsigned long long {
  kNormal = 0,
  kEvictFirst = 0x12f0000000000000,
  kEvictLast = 0x14f0000000000000
};

// Starts to copy the box to shared memory; what is outside of the tensor becomes 0. Its bytes count
// in `barrier`'s phase.
template <L2Policy kPolicy = L2Policy::kNormal>
__device__ __forceinline__ void tma_load(unsigned to, const TensorMap* map, Coordinates5 at,
                                         unsigned barrier) {
  if constexpr (kPolicy == L2Policy::kNormal) {
    asm volatile(
        "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%3, %4, %5, %6, %7}], [%2];" ::"r"(to),
        "l"(map), "r"(barrier), "r"(at.x0), "r"(at.x1), "r"(at.x2), "r"(at.x3), "r"(at.x4)
        : "memory");
  } else {
    asm volatile(
        "{\n\t.reg .b64 policy;\n\tmov.b64 policy, %8;\n\t"
        "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".L2::cache_hint [%0], [%1, {%3, %4, %5, %6, %7}], [%2], policy;\n\t}" ::"r"(to),
        "l"(map), "r"(barrier), "r"(at.x0), "r"(at.x1), "r"(at.x2), "r"(at.x3), "r"(at.x4),
        "n"(static_cast<unsigned long long>(kPolicy))
        : "memory");
  }
}

// Multicast tma_load: into every block of the cluster whose rank's bit is set in `blocks`, at the
// same offset, signalling the barrier at the same offset.
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
template <L2Policy kPolicy = L2Policy::kNormal>
__device__ __forceinline__ void tma_store(const TensorMap* map, Coordinates5 at, unsigned from) {
  if constexpr (kPolicy == L2Policy::kNormal) {
    asm volatile(
        "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group "
        "[%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(map),
        "r"(from), "r"(at.x0), "r"(at.x1), "r"(at.x2), "r"(at.x3), "r"(at.x4)
        : "memory");
  } else {
    asm volatile(
        "{\n\t.reg .b64 policy;\n\tmov.b64 policy, %7;\n\t"
        "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group.L2::cache_hint "
        "[%0, {%2, %3, %4, %5, %6}], [%1], policy;\n\t}" ::"l"(map),
        "r"(from), "r"(at.x0), "r"(at.x1), "r"(at.x2), "r"(at.x3), "r"(at.x4),
        "n"(static_cast<unsigned long long>(kPolicy))
        : "memory");
  }
}

// Makes a group of the stores that this thread has started.
__device__ __forceinline__ void tma_store_commit() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Waits until all of this thread's groups have read their shared memory.
__device__ __forceinline__ void tma_store_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

// Makes this thread's writes to shared memory visible to TMA and wgmma.
__device__ __forceinline__ void fence_async_proxy() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

#endif
