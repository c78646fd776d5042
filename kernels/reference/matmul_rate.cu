// Multiplies matrices as fast as the device can, and reads memory so (read_memory.cuh): what
// attention's rates are compared with. Operands of products stay in shared memory, so that nothing
// but the tensor cores and power limits them. A translation unit of its own, for an element type.
//   FATUNE_IS_BF16   true or false
#include "common/ptx_memory.cuh"
#include "reference/matmul_operands.cuh"
#include "reference/read_memory.cuh"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#include "reference/matmul_wgmma.cuh"
#else
#include "reference/matmul_mma.cuh"
#endif

// shape:   a block for each SM, of kMatmulThreads
extern "C" __global__ void __launch_bounds__(kMatmulThreads, 1)
    fatune_matmul_rate(const __grid_constant__ MatmulRateArgs args) {
  constexpr int kBytesA = kMatmulRows * kMatmulRowBytes;
  __shared__ alignas(1024) unsigned char operands[kBytesA + kMatmulColumns * kMatmulRowBytes];
  const bool shows = blockIdx.x == 0;
  fill_operand(operands, kMatmulRows, 0, shows ? args.a : nullptr);
  fill_operand(operands + kBytesA, kMatmulColumns, 1, shows ? args.b : nullptr);
  MatmulSums::publish_operands();
  __syncthreads();

  const unsigned a = shared_address(operands);
  MatmulSums sums;
  sums.add(a, a + kBytesA, args.products);
  if (shows && args.sums != nullptr) {
    sums.store(args.sums);
  }
}
