// Products of a block by wgmma: each of its two warpgroups has 64 rows and all columns.
#ifndef FATUNE_KERNELS_REFERENCE_MATMUL_WGMMA_CUH
#define FATUNE_KERNELS_REFERENCE_MATMUL_WGMMA_CUH

#include "common/ptx_tma.cuh"
#include "common/ptx_wgmma.cuh"
#include "reference/matmul_operands.cuh"

class MatmulSums {
 public:
  // Operands that threads have written become visible to wgmma, once all have called this and met.
  static __device__ __forceinline__ void publish_operands() { fence_async_proxy(); }

  // One warpgroup waits for its group of products while the other's are under way.
  // threads: a warpgroup, converged
  __device__ __forceinline__ void add(unsigned a, unsigned b, int products) {
    const unsigned long long rows =
        swizzled_descriptor(a + group_ * kGroupRows * kMatmulRowBytes, 0);
    const unsigned long long columns = swizzled_descriptor(b, 0);
#pragma unroll 1
    for (int done = 0; done < products; done += kMatmulGroup) {
      wgmma_fence();
#pragma unroll
      for (int i = 0; i < kMatmulGroup * kSteps; ++i) {
        const int within = i % kSteps * (32 / 16);  // 16 elements are 32 bytes
        wgmma_shared<kIsBf16, kMatmulColumns>(sums_, rows + within, columns + within, 1);
      }
      wgmma_commit();
      wgmma_wait<0>();
      after_wait(sums_);
    }
  }

  __device__ __forceinline__ void store(float* target) const {
    const int lane = threadIdx.x % 32;
    const int first_row = group_ * kGroupRows + threadIdx.x % 128 / 32 * 16 + lane / 4;
#pragma unroll
    for (int i = 0; i < kMatmulColumns / 2; ++i) {
      const int row = first_row + 8 * (i / 2 % 2);
      target[row * kMatmulColumns + 8 * (i / 4) + 2 * (lane % 4) + i % 2] = sums_[i];
    }
  }

 private:
  static constexpr int kGroupRows = 64;
  static constexpr int kSteps = kMatmulDepth / 16;
  static_assert(kMatmulThreads == 2 * 128 && kMatmulRows == 2 * kGroupRows, "two warpgroups");

  const int group_ = threadIdx.x / 128;
  float sums_[kMatmulColumns / 2] = {};
};

#endif
