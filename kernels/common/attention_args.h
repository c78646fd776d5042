// Launch ABI "attention_forward": the one kernel argument of every attention-forward family.
// Included by the host too; plain C++ types only, no includes.
#ifndef FATUNE_KERNELS_COMMON_ATTENTION_ARGS_H
#define FATUNE_KERNELS_COMMON_ATTENTION_ARGS_H

// All tensors are contiguous, in the problem's layout, 16-bit, 16-byte aligned.
// The kernel computes O = softmax(softmax_scale * Q K^T [mask]) V for every (batch, head).
//
// Problems that have more append members, in this order:
//   float* lse;          where log-sum-exps are wanted: (batch, heads, seq_len)
//   int seq_len_kv;      where it is not seq_len, unless sequences are packed
//   const float* sinks;  where heads have sinks: (heads), scaled scores
//   float softcap;       where scores are capped: to softcap * tanh(scaled score / softcap)
//   const int* cu_seqlens_q;   where sequences are packed: (batch + 1), the first row of each in Q
//                              and O, and behind them the number of all rows
//   const int* cu_seqlens_kv;  the same in K and V
// Of a packed batch, seq_len is the most queries that a sequence may have.
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
