// The kernel's arguments, as family.json lists them.
#ifndef FATUNE_KERNELS_FLASH_SM90_KERNEL_ARGS_CUH
#define FATUNE_KERNELS_FLASH_SM90_KERNEL_ARGS_CUH

#include "common/ptx_tma.cuh"

// Tensors are (64 columns, rows, panels, heads, batch), the innermost dimension first. A box of Q
// or O is a consumer's 64 rows; one of K or V what one block of a cluster loads.
struct Work {
  float* lse;       // (batch, heads, seq_len), where log-sum-exps are wanted: natural logarithms
  int* next_tile;   // where blocks take tiles from a counter: 0 before the kernel and after it
  float4* parts;    // of split tiles: split_output.cuh
  int* part_count;  // of each split tile and consumer, parts that are there: as next_tile
  int seq_len;
  int seq_len_kv;
  int heads;          // of Q
  int group;          // heads of Q that share one of K and V
  int batch_heads;    // batch * heads
  int row_units;      // BLOCK_M * cluster rows of Q each: of one head
  int tiles;          // row_units * batch_heads
  int split_tiles;    // the first tiles, whose steps all blocks share; 0 without split_tail
  int tile_steps;     // steps of one of them, of whatever keys its rows see
  int section_heads;  // heads whose tiles are computed in turn: their K and V fit the L2
  float softmax_scale;
};

#endif
