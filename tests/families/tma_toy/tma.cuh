// TMA for one warp. source: PTX ISA 9.0, sections 9.7.9.27 (cp.async.bulk.tensor) and 9.7.13.15
// (mbarrier); a tensor map as a __grid_constant__ parameter: section 5.5.9
#pragma once

// The opaque result of cuTensorMapEncodeTiled.
struct alignas(64) TensorMap {
  unsigned char bytes[128];
};

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// One thread. Other threads may use it after a __syncwarp, the TMA unit at once.
__device__ __forceinline__ void mbarrier_init(unsigned long long* barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals)
               : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// One thread: arrives, and announces how many bytes this phase will receive.
__device__ __forceinline__ void mbarrier_expect(unsigned long long* barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(bytes)
               : "memory");
}

// Returns when the phase of this parity is complete.
__device__ __forceinline__ void mbarrier_wait(unsigned long long* barrier, unsigned parity) {
  unsigned complete = 0;
  while (complete == 0) {
    asm volatile(
        "{\n\t.reg .pred p;\n\t"
        "mbarrier.try_wait.parity.shared.b64 p, [%1], %2;\n\t"
        "selp.u32 %0, 1, 0, p;\n\t}"
        : "=r"(complete)
        : "r"(shared_address(barrier)), "r"(parity)
        : "memory");
  }
}

// One thread: begins to copy the box whose first element is at (0, head, position, batch).
__device__ __forceinline__ void load_box(void* to, const TensorMap* map, int head, int position,
                                         int batch, unsigned long long* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(shared_address(to)),
      "l"(map), "r"(0), "r"(head), "r"(position), "r"(batch), "r"(shared_address(barrier))
      : "memory");
}
