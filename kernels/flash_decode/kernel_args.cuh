// The kernel's arguments, as family.json lists them.
#ifndef FATUNE_KERNELS_FLASH_DECODE_KERNEL_ARGS_CUH
#define FATUNE_KERNELS_FLASH_DECODE_KERNEL_ARGS_CUH

#include "common/ptx_tma.cuh"
#include "common/sink.cuh"
#include "common/softcap.cuh"
#include "flash_decode/kv_type.cuh"

#ifndef FATUNE_PAGE_SIZE
#define FATUNE_PAGE_SIZE 0
#endif

// Keys of a page, if K and V are pools of pages. 0: they are contiguous; then nothing here may
// change the machine code, in which constants that are not enumerators leave symbols.
enum : int { kPageSize = FATUNE_PAGE_SIZE };

#ifndef FATUNE_CLUSTER
#define FATUNE_CLUSTER 1
#endif

// Blocks of a cluster, which have neighbouring tiles of rows.
enum : int { kCluster = FATUNE_CLUSTER };

#ifndef FATUNE_MERGE_SUMS
#define FATUNE_MERGE_SUMS 0
#endif

// Whether blocks can add up the sums of two parts through shared memory (merge.cuh).
enum : bool { kCanMerge = FATUNE_MERGE_SUMS };

// K and V are (64 columns, keys, panels, heads, batch), the innermost dimension first; a box is a
// step. Of 8-bit elements, which are bytes to the maps, a panel has 128 columns, or all of 64. In
// pages, they are (64 columns, keys of a page, panels, heads, pages); a box has keys of one page,
// and all panels of a whole step, or one panel of a smaller page. Where a tile has the layout of
// pages (tile_layout.cuh), they are (first columns of all heads, 8 keys, panels, groups of 8 keys
// of a page, pages), and a box is a page of one head. Where V is columns of K, both are K, and a
// box of "K" has the first four panels, one of "V" the others; in a cluster of two, two and three
// panels. Q is (d_head, heads of a group, queries, heads of K and V, batch); a box is 64 columns of
// the rows of a tile, if that begins and ends with a query.
struct Work {
  const unsigned short* q;
  unsigned short* o;
  float* lse;              // (batch, heads, seq_len) natural logarithms; null unless wanted
  const int* seq_lens_kv;  // keys of each sequence; null where all have seq_len_kv
  float4* parts;    // sums of parts: [parts][row_tiles][kv_heads], each as Output::part_sums says
  int* part_count;  // stored parts of each tile of rows of each head: 0 before and after the kernel
  int* next_part;   // counter of what blocks took: 0 before and after the kernel
  long long q_batch_stride;  // elements
  long long o_batch_stride;
  int q_row_stride;
  int q_head_stride;
  int o_row_stride;
  int o_head_stride;
  int batch;
  int seq_len;
  int seq_len_kv;  // the most keys of a sequence
  int kv_heads;
  int group;             // query heads that share one head of K and V
  int tile_rows;         // packed rows of a tile; the last may have fewer
  int box_rows;          // rows of a box of Q; 0: tiles begin within the heads of a query
  int row_tiles;         // tiles of rows of one head of K and V
  int parts_each;        // parts of each sequence, if all have the same length
  int part_steps;        // steps of a part of a sequence
  int tile_items;        // into how many items, for all blocks, the adding up of a tile's sums is
                         // divided; 0: the block that stores the last part adds them up
  int group_reciprocal;  // this and the next five are reciprocals of members above, for quotient()
  int kv_heads_reciprocal;
  int row_tiles_reciprocal;
  int parts_each_reciprocal;
  int part_steps_reciprocal;
  int tile_items_reciprocal;
  int causal;
  int window;  // query i sees keys with |i - j| < window; 0: all
  float softmax_scale;
#if FATUNE_SINKS
  const float* sinks;  // (heads): scaled scores
#endif
#if FATUNE_SOFTCAP
  float softcap;
#endif
#if FATUNE_PAGE_SIZE > 0
  const int* page_table;  // [batch, pages_of_sequence]: which page of K and V has which keys
  int pages_of_sequence;
  int k_head_stride;  // elements; 0 unless columns of the maps have the heads, as has v_head_stride
  int v_head_stride;
#endif
#if FATUNE_KV_DTYPE > 0
  const float*
      k_scales;  // an element of K is that of its tensor times the scale of its head or key
  const float* v_scales;
  int scale_head_stride;  // elements between scales of heads; 0: they have the same
#endif
#if FATUNE_KEY_SCALES
  int scale_key_stride;          // between scales of keys; 0: those of a page have the same
  long long scale_outer_stride;  // of sequences, or of pages
#endif
#if FATUNE_MERGE_SUMS
  int merges;  // 1: two blocks of a cluster have the parts of a tile of rows, and tile_items is 2
#endif
};

// Whether two blocks of a cluster have the parts of a tile of rows.
__device__ __forceinline__ bool merges_sums(const Work& work) {
#if FATUNE_MERGE_SUMS
  return work.merges != 0;
#else
  return false;
#endif
}

// The table of pages of a sequence; null if K and V are contiguous.
__device__ __forceinline__ const int* pages_of(const Work& work, int batch) {
#if FATUNE_PAGE_SIZE > 0
  return work.page_table + static_cast<long long>(batch) * work.pages_of_sequence;
#else
  return nullptr;
#endif
}

// Elements between heads of K (v: 0) or V (1), where columns of the maps have the heads; else 0.
__device__ __forceinline__ int head_columns(const Work& work, int v) {
#if FATUNE_PAGE_SIZE > 0
  return v == 0 ? work.k_head_stride : work.v_head_stride;
#else
  return 0;
#endif
}

// number / divisor, neither negative; reciprocal: 2^30 / divisor, rounded up. A division would take
// 20 instructions. The product of the two is less than number / 2^30 too large, so that the result
// is exact if number * divisor < 2^30.
__device__ __forceinline__ int quotient(int number, int reciprocal) {
  return static_cast<int>(
      __umulhi(4 * static_cast<unsigned>(number), static_cast<unsigned>(reciprocal)));
}

// Packed row `row` of a head of K and V is of this query, and of head row % group of the group.
__device__ __forceinline__ int query_of(const Work& work, int row) {
  return quotient(row, work.group_reciprocal);
}

#endif
