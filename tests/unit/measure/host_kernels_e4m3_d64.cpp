#define FATUNE_IS_BF16 false
#define FATUNE_HEAD_DIM 64
#define FATUNE_HEAD_DIM_V 64
#define FATUNE_KV_DTYPE 24
#define FATUNE_HOST_SUFFIX _e4m3_d64
#include "unit/measure/host_kernels.inc"

namespace fatune {

const HostKernels& host_kernels_e4m3_d64() { return kHostKernels; }

}  // namespace fatune
