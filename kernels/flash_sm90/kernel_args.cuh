// The kernel's arguments, as family.json lists them.
#ifndef FATUNE_KERNELS_FLASH_SM90_KERNEL_ARGS_CUH
#define FATUNE_KERNELS_FLASH_SM90_KERNEL_ARGS_CUH

#include "common/ptx_tma.cuh"
#include "common/sink.cuh"
#include "common/softcap.cuh"
#include "flash_sm90/config.cuh"

// Tensors are (64 columns, rows, panels, heads, batch), the innermost dimension first, or (columns,
// rows, 1, heads, batch) where 64 does not divide the columns. A box of Q or O is the 64 rows of
// one consumer; a box of K or V is what one block of a cluster loads. Each is all panels, or one.
// With pack_gqa, tensors of Q and O are (columns, heads of a group, rows, groups, batch), and a box
// is one panel of a consumer's queries, with all heads of the group.
// Tensors of a packed batch have one batch, with the rows of all sequences. Where K and V are pools
// of pages, their batches are pages, and a box has keys of one page: StepPages.
struct Work {
  float* lse;       // (batch, query heads, seq_len) natural logarithms, if log-sum-exps are wanted
  int* next_tile;   // counter of the dynamic schedule: 0 before and after the kernel
  float4* parts;    // partial results of split tiles (split_output.cuh)
  int* part_count;  // stored parts per (split tile, consumer): 0 before and after the kernel
  int seq_len;      // rows of Q and O in a batch of the tensors
  int seq_len_kv;   // rows of K and V
  int heads;        // heads of tiles: query heads or, with pack_gqa, groups of them
  int group;        // heads of tiles that share one head of K and V
  int batch_heads;  // batch * heads
  int row_units;    // units of the queries of a cluster's blocks in one head
  int tiles;        // row_units * batch_heads; of a packed batch, the most there can be
  int split_tiles;  // how many of the first tiles are split over all blocks; 0: no split_tail
  int tile_steps;   // K/V steps per split tile, fully masked ones included
  int section_heads;  // heads per section; the K and V of one section fit in the L2
  float softmax_scale;
#if FATUNE_EIGHT_BITS
  const float* q_scales;  // (query heads), or one of all: what makes elements of Q numbers
  const float* k_scales;  // (heads of keys), or one of all
  const float* v_scales;
#if FATUNE_SCALE_BLOCK > 0
  // Scales are (sequences, blocks, heads).
  int query_blocks;  // blocks of the longest sequence's queries
  int key_blocks;    // and of keys
  int kv_heads;
#else
  int scale_stride;  // from a head's scale to the next one: 1, or 0
#endif
#endif
#if FATUNE_SINKS
  const float* sinks;  // (query heads): scaled scores
#endif
#if FATUNE_SOFTCAP
  float softcap;
#endif
#if FATUNE_KEY_LENGTHS
  const int* seq_lens_kv;  // (batch): how many of the seq_len_kv rows a sequence's keys are
#endif
#if FATUNE_PACKED
  const int* cu_seqlens_q;   // (batch + 1): the first row of each sequence in Q and O, and the end
  const int* cu_seqlens_kv;  // (batch + 1): the same in K and V
  unsigned short* o;         // for the rows of tiles that other sequences have a part of
  int batch;                 // sequences
  int o_row_stride;          // elements
  int o_head_stride;         // elements
#endif
#if FATUNE_PAGE_SIZE > 0
  const int* page_table;  // [batch, pages_of_sequence]: which page of K and V has which keys
  int pages_of_sequence;
#endif
};

#endif
