// Launch ABI "attention_forward": the one kernel argument of every attention-forward family.
// Included by the host too; plain C++ types only, no includes.
#ifndef FATUNE_KERNELS_COMMON_ATTENTION_ARGS_H
#define FATUNE_KERNELS_COMMON_ATTENTION_ARGS_H

// All tensors are contiguous (batch, seq_len, heads, d_head), 16-bit, 16-byte aligned.
// The kernel computes O = softmax(softmax_scale * Q K^T [causal mask]) V for every (batch, head).
struct AttentionForwardArgs {
  const void* q;
  const void* k;
  const void* v;
  void* o;
  int batch;
  int seq_len;
  int heads;
  float softmax_scale;  // usually 1 / sqrt(d_head)
};

#endif
