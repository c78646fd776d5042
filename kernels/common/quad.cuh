// Reductions over the lanes that share a row of mma or wgmma accumulators.
#ifndef FATUNE_KERNELS_COMMON_QUAD_CUH
#define FATUNE_KERNELS_COMMON_QUAD_CUH

// Both functions combine the four neighbouring lanes that share a row.
// threads: one warp, converged
__device__ __forceinline__ float quad_max(float x) {
  x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
  return fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
}

__device__ __forceinline__ float quad_sum(float x) {
  x += __shfl_xor_sync(0xffffffffu, x, 1);
  return x + __shfl_xor_sync(0xffffffffu, x, 2);
}

#endif
