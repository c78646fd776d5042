// The kernel's arguments, as family.json lists them: the Work of flash_decode, and where K and V
// are.
#ifndef FATUNE_KERNELS_FLASH_DECODE_SM80_KERNEL_ARGS_CUH
#define FATUNE_KERNELS_FLASH_DECODE_SM80_KERNEL_ARGS_CUH

#include "flash_decode/kernel_args.cuh"

struct KeysAndValues {
  const unsigned short* k;
  const unsigned short* v;
  long long k_batch_stride;  // elements
  long long v_batch_stride;
  long long k_head_stride;
  long long v_head_stride;
  int k_row_stride;
  int v_row_stride;
};

#endif
