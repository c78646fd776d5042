// Divides the items of a loop among the threads of a grid.
#ifndef FATUNE_KERNELS_REFERENCE_GRID_STRIDE_CUH
#define FATUNE_KERNELS_REFERENCE_GRID_STRIDE_CUH

// First index and step of a loop that all threads of grid.x share.
struct GridStride {
  unsigned long long first, step;

  __device__ __forceinline__ GridStride()
      : first(static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x),
        step(static_cast<unsigned long long>(gridDim.x) * blockDim.x) {}
};

#endif
