#define FATUNE_IS_BF16 false
#define FATUNE_HEAD_DIM 64
#define FATUNE_HEAD_DIM_V 64
#define FATUNE_HOST_SUFFIX _fp16_d64
#include "unit/measure/host_kernels.inc"

namespace fatune {

const HostKernels& host_kernels_fp16_d64() { return kHostKernels; }

Words host_philox(Words counter, std::uint64_t seed) {
  const uint4 bits = philox4x32({counter.x, counter.y, counter.z, counter.w}, seed);
  return {bits.x, bits.y, bits.z, bits.w};
}

}  // namespace fatune
