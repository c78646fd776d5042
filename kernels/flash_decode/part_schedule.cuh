// Which keys of which sequence a block reads.
//
// A sequence is divided into parts of part_steps steps, whatever the other sequences and the number
// of blocks, so that the bits of its output depend on nothing else. Parts are numbered (batch,
// part, head, tile of rows), tiles of rows fastest: blocks that run at the same time read the same
// keys, or neighbouring heads of them, and the L2 has them once.
#ifndef FATUNE_KERNELS_FLASH_DECODE_PART_SCHEDULE_CUH
#define FATUNE_KERNELS_FLASH_DECODE_PART_SCHEDULE_CUH

#include "flash_decode/kernel_args.cuh"

// What the producer tells the consumer of a part.
struct Part {
  int batch;  // -1: there are no more parts
  int head;   // of K and V
  int row_tile;
  int keys;   // of the sequence
  int step;   // the first, of the sequence's
  int end;    // the step after the last one
  int parts;  // of the sequence
  int index;  // within the sequence
  int item;   // -1: a part to compute; else a share of the tile's sums, to be added up
  int first;  // parts of the sequences before, for one tile of rows of one head
};

// Steps of a sequence with a key that a query sees.
struct StepRange {
  int begin, end;
};

__device__ __forceinline__ int keys_of(const Work& work, int batch) {
  return work.seq_lens_kv == nullptr ? work.seq_len_kv : __ldg(work.seq_lens_kv + batch);
}

template <typename S>
__device__ __forceinline__ StepRange steps_of(const Work& work, int keys) {
  const int first_key = work.window > 0 ? max(0, keys - work.seq_len - work.window + 1) : 0;
  return {first_key / S::kStepKeys, (keys + S::kStepKeys - 1) / S::kStepKeys};
}

// Parts of a sequence, for one tile of rows of one head; one if there are no keys.
template <typename S>
__device__ __forceinline__ int parts_of(const Work& work, int keys) {
  const StepRange steps = steps_of<S>(work, keys);
  return max(1, quotient(steps.end - steps.begin + work.part_steps - 1, work.part_steps));
}

// Parts of the first sequences, for one tile of rows of one head.
// threads: one warp, converged
template <typename S>
__device__ __forceinline__ int parts_before(const Work& work, int sequences) {
  if (work.seq_lens_kv == nullptr) {
    return parts_of<S>(work, work.seq_len_kv) * sequences;
  }
  int parts = 0;
  for (int batch = static_cast<int>(threadIdx.x % 32); batch < sequences; batch += 32) {
    parts += parts_of<S>(work, keys_of(work, batch));
  }
  return static_cast<int>(__reduce_add_sync(0xffffffffu, static_cast<unsigned>(parts)));
}

// Sets batch, keys, index and first of part `at`, if there were one head and one tile of rows.
// threads: one warp, converged
template <typename S>
__device__ __forceinline__ void find_sequence(const Work& work, int at, Part& part) {
  if (work.seq_lens_kv == nullptr) {
    part.keys = work.seq_len_kv;
    const int parts = parts_of<S>(work, part.keys);
    part.batch = quotient(at, parts);
    part.first = part.batch * parts;
    part.index = at - part.first;
    return;
  }
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int number = at;
  for (int first = 0;; first += 32) {
    const int mine = first + lane;
    const int my_keys = mine < work.batch ? keys_of(work, mine) : 0;
    const int my_parts = mine < work.batch ? parts_of<S>(work, my_keys) : 0;
    int end = my_parts;
    for (int distance = 1; distance < 32; distance *= 2) {
      const int before = __shfl_up_sync(0xffffffffu, end, distance);
      end += lane >= distance ? before : 0;
    }
    const unsigned past = __ballot_sync(0xffffffffu, at < end);
    if (past != 0) {
      const int source = __ffs(static_cast<int>(past)) - 1;
      part.batch = first + source;
      part.keys = __shfl_sync(0xffffffffu, my_keys, source);
      part.index = at - __shfl_sync(0xffffffffu, end - my_parts, source);
      part.first = number - part.index;
      return;
    }
    at -= __shfl_sync(0xffffffffu, end, 31);
  }
}

// threads: one warp, converged
template <typename S>
__device__ __forceinline__ Part part_at(const Work& work, int number) {
  Part part;
  part.item = -1;
  const int heads = quotient(number, work.row_tiles);
  part.row_tile = number - heads * work.row_tiles;
  const int at = quotient(heads, work.kv_heads);
  part.head = heads - at * work.kv_heads;
  find_sequence<S>(work, at, part);
  part.parts = parts_of<S>(work, part.keys);
  const StepRange steps = steps_of<S>(work, part.keys);
  part.step = steps.begin + part.index * work.part_steps;
  part.end = min(steps.end, part.step + work.part_steps);
  if (work.causal != 0) {
    // No row of the tile sees keys behind the last query's.
    const int last_query = min(work.seq_len, (part.row_tile + 1) * work.tile_queries) - 1;
    const int seen = max(0, part.keys - work.seq_len + last_query + 1);
    part.end = min(part.end, (seen + S::kStepKeys - 1) / S::kStepKeys);
  }
  return part;
}

// The counter of stored parts of a tile of rows.
__device__ __forceinline__ int* counter_of(const Work& work, const Part& part) {
  return work.part_count + (part.batch * work.row_tiles + part.row_tile) * work.kv_heads +
         part.head;
}

// Items of all tiles: shares of their sums, which blocks take when all parts are taken.
__device__ __forceinline__ int items_of_all(const Work& work) {
  return work.tile_items * work.batch * work.row_tiles * work.kv_heads;
}

// The item with this number.
// threads: one warp, converged
template <typename S>
__device__ __forceinline__ Part item_at(const Work& work, int number) {
  Part part;
  const int tile = quotient(number, work.tile_items);
  part.item = number - tile * work.tile_items;
  const int rows = quotient(tile, work.kv_heads);
  part.head = tile - rows * work.kv_heads;
  part.batch = quotient(rows, work.row_tiles);
  part.row_tile = rows - part.batch * work.row_tiles;
  part.keys = keys_of(work, part.batch);
  part.parts = parts_of<S>(work, part.keys);
  part.first = parts_before<S>(work, part.batch);
  part.index = part.step = part.end = 0;
  return part;
}

#endif
