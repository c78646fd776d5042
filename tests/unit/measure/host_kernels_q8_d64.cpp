#define FATUNE_IS_BF16 true
#define FATUNE_HEAD_DIM 64
#define FATUNE_HEAD_DIM_V 64
#define FATUNE_KV_DTYPE 24
#define FATUNE_EIGHT_BIT_QUERIES 1
#define FATUNE_HOST_SUFFIX _q8_d64
#include "unit/measure/host_kernels.inc"

namespace fatune {

const HostKernels& host_kernels_q8_d64() { return kHostKernels; }

}  // namespace fatune
