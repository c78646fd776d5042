// Everything that fatune runs on the GPU besides the kernels it tunes: inputs, references,
// comparisons, and the flush and the gate of a timed sample. One translation unit for a (dtype,
// d_head, d_head_v).
//   FATUNE_IS_BF16   true or false: of O, and of all elements of 16 bits
//   FATUNE_HEAD_DIM  of Q and K: a multiple of 8
//   FATUNE_HEAD_DIM_V  of V and O: a multiple of 8
//   FATUNE_KV_DTYPE  23 or 24: K and V are e5m2 or e4m3; otherwise not defined
//   FATUNE_EIGHT_BIT_QUERIES  1: Q has the type of K and V, e4m3; otherwise not defined
#include "reference/check_output.cuh"
#include "reference/count_rows.cuh"
#include "reference/device_gate.cuh"
#include "reference/random_inputs.cuh"
#include "reference/read_memory.cuh"
#include "reference/reference_attention.cuh"
#include "reference/row_values.cuh"

#if FATUNE_KV_DTYPE != 0
#include "reference/unrounded_attention.cuh"
#endif
