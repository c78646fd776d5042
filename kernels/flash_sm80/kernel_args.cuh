// The kernel's one argument: what every problem has, and what this one adds.
#ifndef FATUNE_KERNELS_FLASH_SM80_KERNEL_ARGS_CUH
#define FATUNE_KERNELS_FLASH_SM80_KERNEL_ARGS_CUH

#include "common/attention_args.h"
#include "common/sink.cuh"
#include "common/softcap.cuh"
#include "flash_sm80/config.cuh"

#if FATUNE_LSE || FATUNE_OTHER_KV_LENGTH || FATUNE_SINKS || FATUNE_SOFTCAP || FATUNE_PACKED

struct ProblemArgs : AttentionForwardArgs {
#if FATUNE_LSE
  float* lse;  // (batch, heads, seq_len): natural logarithm of the sum of exp(scaled scores)
#endif
#if FATUNE_OTHER_KV_LENGTH
  int seq_len_kv;
#endif
#if FATUNE_SINKS
  const float* sinks;  // (heads): scaled scores
#endif
#if FATUNE_SOFTCAP
  float softcap;
#endif
#if FATUNE_PACKED
  const int* cu_seqlens_q;   // (batch + 1): the first row of each sequence in Q and O, and the end
  const int* cu_seqlens_kv;  // (batch + 1): the same in K and V
#endif
};

#else

using ProblemArgs = AttentionForwardArgs;

#endif

// Positions of K and V, unless the batch is packed.
__device__ __forceinline__ int kv_length(const ProblemArgs& args) {
#if FATUNE_OTHER_KV_LENGTH
  return args.seq_len_kv;
#else
  return args.seq_len;
#endif
}

// Null unless it is wanted.
__device__ __forceinline__ float* log_sum_exps(const ProblemArgs& args) {
#if FATUNE_LSE
  return args.lse;
#else
  return nullptr;
#endif
}

#endif
