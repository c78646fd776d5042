#define FATUNE_IS_BF16 true
#define FATUNE_HEAD_DIM 40
#define FATUNE_HEAD_DIM_V 24
#define FATUNE_HOST_SUFFIX _bf16_d40
#include "unit/measure/host_kernels.inc"

namespace fatune {

const HostKernels& host_kernels_bf16_d40() { return kHostKernels; }

}  // namespace fatune
