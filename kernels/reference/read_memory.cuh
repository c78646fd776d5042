// Reads memory as fast as the device can. Afterwards the L2 holds what was read last, and none of
// its lines has to be written back.
#ifndef FATUNE_KERNELS_REFERENCE_READ_MEMORY_CUH
#define FATUNE_KERNELS_REFERENCE_READ_MEMORY_CUH

#include "reference/grid_stride.cuh"
#include "reference/read_memory_args.h"

__device__ __forceinline__ unsigned mixed_words(uint4 chunk) {
  return chunk.x ^ chunk.y ^ chunk.z ^ chunk.w;
}

// shape:   grid (any) of kReadThreads. If all words of the memory are the same, nothing is written.
extern "C" __global__ void __launch_bounds__(kReadThreads)
    fatune_read_memory(const __grid_constant__ ReadMemoryArgs args) {
  constexpr int kInFlight = 4;  // chunks that each thread waits for together
  const auto* const data = static_cast<const uint4*>(args.data);
  const GridStride loop;
  unsigned long long i = loop.first;
  unsigned mixed = 0;
  for (; i + (kInFlight - 1) * loop.step < args.chunks; i += kInFlight * loop.step) {
    uint4 chunks[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      chunks[k] = data[i + k * loop.step];
    }
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      mixed ^= mixed_words(chunks[k]);
    }
  }
  for (; i < args.chunks; i += loop.step) {
    mixed ^= mixed_words(data[i]);
  }
  if (mixed != 0) {
    atomicXor(args.mixed, mixed);
  }
}

#endif
