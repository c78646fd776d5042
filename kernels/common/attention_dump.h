// What a kernel that is compiled for 'fatune debug' writes beside its output (docs/debug.md).
// Included by the host too; plain C++ types only.
#ifndef FATUNE_KERNELS_COMMON_ATTENTION_DUMP_H
#define FATUNE_KERNELS_COMMON_ATTENTION_DUMP_H

#include "common/attention_args.h"

// Batch 1 with one head. Row: position of the query; key: position of the key; both counted to
// the end of the last tile, so that `rows` and `keys` are multiples of the tiles' extents. A tile
// of keys is one step; what no step writes stays as it was.
//
// Units: with c = softmax_scale * log2(e), S = c Q K^T and P = 2^(S - M), so that S and M are
// exponents of two.
struct AttentionDump {
  float* s;  // [rows, keys]: after the mask; masked: minus infinity
  float* p;  // [rows, keys]: as the product with V takes it, rounded to 16 bits
  float* m;  // [tiles, rows]: what the step's exponents are relative to
  float* l;  // [tiles, rows]: sum of P over the keys seen up to and with the step
  float* o;  // [tiles, rows, d_head]: sum of P V over the same keys, not divided by L
  int rows;
  int keys;
};

// The kernel's one argument in place of AttentionForwardArgs.
struct AttentionForwardDumpArgs : AttentionForwardArgs {
  AttentionDump dump;
};

#endif
