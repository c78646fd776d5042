// Which keys of which sequence a block reads.
//
// A sequence is divided into parts of part_steps steps, whatever the other sequences and the number
// of blocks, so that the bits of its output depend on nothing else. Parts are numbered (sequence,
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
  int first;  // parts of the sequences taken before, for one tile of rows of one head
};

// Reads a part that the producer passed on.
__device__ __forceinline__ Part read_part(const unsigned char* from) {
  const int4* const words = reinterpret_cast<const int4*>(from);
  const int4 place = words[0];
  const int4 steps = words[1];
  const int4 sums = words[2];
  return {place.x, place.y, place.z, place.w, steps.x, steps.y, steps.z, steps.w, sums.x, sums.y};
}

inline constexpr int kNoLast = 0x7fffffff;

// Adds 1 to the counter, or makes it 0 if it has `last`. Returns what it had. An addition, as which
// the compiler sees this with a limit of 2^32 - 1, would be followed by a shuffle to other lanes,
// which waits for the answer.
__device__ __forceinline__ int count_one(int* counter, int last = kNoLast) {
  int before;
  asm volatile("atom.relaxed.gpu.global.inc.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(counter), "r"(last)
               : "memory");
  return before;
}

// Brings the lengths of up to 1024 sequences into the L2, all at once. threads: one warp
__device__ __forceinline__ void prefetch_lengths(const Work& work) {
  const int first = static_cast<int>(threadIdx.x) % 32 * 32;
  if (work.seq_lens_kv != nullptr && first < work.batch) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(work.seq_lens_kv + first));
  }
}

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
  if (work.seq_lens_kv == nullptr) {
    return work.parts_each;
  }
  const StepRange steps = steps_of<S>(work, keys);
  return max(1,
             quotient(steps.end - steps.begin + work.part_steps - 1, work.part_steps_reciprocal));
}

// Sequences of lengths that differ are taken by classes of their length, two for each doubling, the
// longest first, so that no long one begins last. This is the class: the exponent of keys + 1 and
// the first bit of its significand.
__device__ __forceinline__ int length_class(int keys) {
  return __float_as_int(static_cast<float>(keys + 1)) >> 22;
}

// Parts of the sequences that are taken before this one, for one tile of rows of one head.
// threads: one warp, converged
template <typename S>
__device__ __forceinline__ int parts_before(const Work& work, int batch) {
  if (work.seq_lens_kv == nullptr) {
    return work.parts_each * batch;
  }
  const int own_class = length_class(keys_of(work, batch));
  int parts = 0;
#pragma unroll 1
  for (int other = static_cast<int>(threadIdx.x % 32); other < work.batch; other += 32) {
    const int keys = keys_of(work, other);
    const int its_class = length_class(keys);
    if (its_class > own_class || (its_class == own_class && other < batch)) {
      parts += parts_of<S>(work, keys);
    }
  }
  return static_cast<int>(__reduce_add_sync(0xffffffffu, static_cast<unsigned>(parts)));
}

// Sum of the lanes' values up to this lane's.
// threads: one warp, converged
__device__ __forceinline__ int sum_to_lane(int value) {
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const int before = __shfl_up_sync(0xffffffffu, value, distance);
    value += static_cast<int>(threadIdx.x % 32) >= distance ? before : 0;
  }
  return value;
}

// Finds the sequences of parts, the numbers of which only grow. Each lane has one of 32 sequences
// and, if there are more than 32, two of the 64 classes.
// threads: one warp, converged, in all functions
template <typename S>
class SequenceFinder {
 public:
  __device__ __forceinline__ explicit SequenceFinder(const Work& work)
      : work_(work), lane_(static_cast<int>(threadIdx.x % 32)) {}

  // Whether lengths differ, of so few sequences that each lane keeps one. Else they are counted in
  // shared memory.
  __device__ __forceinline__ bool has_one_a_lane() const {
    return work_.seq_lens_kv != nullptr && work_.batch <= 32;
  }

  // Counts the parts of each class, before find(). Returns those of all sequences, for one tile of
  // rows of one head. scratch: 64 integers of shared memory, which are free again afterwards
  __device__ __forceinline__ int count_parts(int* scratch) {
    if (work_.seq_lens_kv == nullptr) {
      return work_.parts_each * work_.batch;
    }
    if (has_one_a_lane()) {
      return order_lanes();
    }
    scratch[lane_] = 0;
    scratch[lane_ + 32] = 0;
    __syncwarp();
#pragma unroll 1
    for (int batch = lane_; batch < work_.batch; batch += 32) {
      const int keys = keys_of(work_, batch);
      atomicAdd(scratch + kLongestClass - length_class(keys), parts_of<S>(work_, keys));
    }
    __syncwarp();
    const int longer = scratch[2 * lane_];
    const int both = longer + scratch[2 * lane_ + 1];
    end_ = sum_to_lane(both);
    middle_ = end_ - both + longer;
    return __shfl_sync(0xffffffffu, end_, 31);
  }

  // Sets keys and first of a part of sequence part.batch.
  __device__ __forceinline__ void look_up(Part& part) const {
    if (has_one_a_lane()) {
      part.keys = __shfl_sync(0xffffffffu, keys_, part.batch);
      part.first = __shfl_sync(0xffffffffu, before_, part.batch);
      return;
    }
    part.keys = keys_of(work_, part.batch);
    part.first = parts_before<S>(work_, part.batch);
  }

  // Sets batch, keys, index and first of part `at`, if there were one head and one tile of rows.
  __device__ __forceinline__ void find(int at, Part& part) {
    if (work_.seq_lens_kv == nullptr) {
      part.keys = work_.seq_len_kv;
      part.batch = quotient(at, work_.parts_each_reciprocal);
      part.first = part.batch * work_.parts_each;
      part.index = at - part.first;
      return;
    }
    if (has_one_a_lane()) {
      find_in_lanes(at, part);
      return;
    }
    if (at >= class_end_) {
      take_class(at);
    }
#pragma unroll 1
    while (!find_in_chunk(at, part)) {
      take_chunk(chunk_ + 32);
    }
  }

 private:
  static constexpr int kShortestClass = 254;  // of no keys
  static constexpr int kLongestClass = 317;   // of 2^31 keys

  // Sets the keys and the parts of the lane's sequence, and before_: the parts of the sequences
  // that are taken before it. Returns the parts of all. A sequence has less than 2^15 parts (the
  // rule parts-counted).
  __device__ __forceinline__ int order_lanes() {
    constexpr unsigned kParts = (1u << 21) - 1;
    const bool is_there = lane_ < work_.batch;
    keys_ = is_there ? keys_of(work_, lane_) : 0;
    parts_ = is_there ? parts_of<S>(work_, keys_) : 0;
    // The sequence with the larger word is taken earlier: the class in 6 bits, then the lane.
    const unsigned own = static_cast<unsigned>(length_class(keys_) - kShortestClass) << 26 |
                         static_cast<unsigned>(31 - lane_) << 21 | static_cast<unsigned>(parts_);
    unsigned before = 0;
#pragma unroll 4
    for (int lane = 0; lane < work_.batch; ++lane) {
      const unsigned other = __shfl_sync(0xffffffffu, own, lane);
      before += other > own ? other & kParts : 0;
    }
    before_ = static_cast<int>(before);
    return static_cast<int>(__reduce_add_sync(0xffffffffu, static_cast<unsigned>(parts_)));
  }

  __device__ __forceinline__ void find_in_lanes(int at, Part& part) {
    const unsigned has = __ballot_sync(0xffffffffu, at >= before_ && at < before_ + parts_);
    part.batch = __ffs(static_cast<int>(has)) - 1;
    part.keys = __shfl_sync(0xffffffffu, keys_, part.batch);
    part.first = __shfl_sync(0xffffffffu, before_, part.batch);
    part.index = at - part.first;
  }

  // Takes the class that has part `at`, from its first sequence on.
  __device__ __forceinline__ void take_class(int at) {
    const int source = __ffs(static_cast<int>(__ballot_sync(0xffffffffu, at < end_))) - 1;
    const int middle = __shfl_sync(0xffffffffu, middle_, source);
    const int before = source == 0 ? 0 : __shfl_sync(0xffffffffu, end_, source - 1);
    const bool is_shorter = at >= middle;
    class_ = kLongestClass - 2 * source - (is_shorter ? 1 : 0);
    before_ = is_shorter ? middle : before;
    class_end_ = is_shorter ? __shfl_sync(0xffffffffu, end_, source) : middle;
    take_chunk(0);
  }

  __device__ __forceinline__ void take_chunk(int first) {
    chunk_ = first;
    const bool is_there = first + lane_ < work_.batch;
    keys_ = is_there ? keys_of(work_, first + lane_) : 0;
    parts_ = is_there && length_class(keys_) == class_ ? parts_of<S>(work_, keys_) : 0;
  }

  // If the part is of none of the chunk's sequences of this class, adds their parts to before_.
  __device__ __forceinline__ bool find_in_chunk(int at, Part& part) {
    const int end = sum_to_lane(parts_);
    const unsigned past = __ballot_sync(0xffffffffu, at - before_ < end);
    if (past == 0) {
      before_ += __shfl_sync(0xffffffffu, end, 31);
      return false;
    }
    const int source = __ffs(static_cast<int>(past)) - 1;
    part.batch = chunk_ + source;
    part.keys = __shfl_sync(0xffffffffu, keys_, source);
    part.first = before_ + __shfl_sync(0xffffffffu, end - parts_, source);
    part.index = at - part.first;
    return true;
  }

  const Work& work_;
  const int lane_;
  int end_ = 0;        // parts of the lane's classes and of all longer ones
  int middle_ = 0;     // without those of the lane's second class
  int class_ = 0;      // of which sequences are being taken
  int class_end_ = 0;  // parts of this class and of all longer ones
  int chunk_ = 0;      // the first of the 32 sequences
  int keys_ = 0;       // of the lane's sequence
  int parts_ = 0;      // of the lane's sequence, if it is of the class
  int before_ = 0;     // parts of the sequences that were taken before these, or before the lane's
};

// Sets the part's steps and the number of parts of its sequence. in: all else
template <typename S>
__device__ __forceinline__ void set_steps(const Work& work, Part& part) {
  part.parts = parts_of<S>(work, part.keys);
  const StepRange steps = steps_of<S>(work, part.keys);
  part.step = steps.begin + part.index * work.part_steps;
  part.end = min(steps.end, part.step + work.part_steps);
  if (work.causal != 0) {
    // No row of the tile, or of a tile of the cluster, sees keys behind the last query's.
    const int tiles = (part.row_tile / kCluster + 1) * kCluster;
    const int last_query =
        query_of(work, min(work.seq_len * work.group, tiles * work.tile_rows) - 1);
    const int seen = max(0, part.keys - work.seq_len + last_query + 1);
    part.end = min(part.end, (seen + S::kStepKeys - 1) / S::kStepKeys);
  }
}

// threads: one warp, converged
template <typename S>
__device__ __forceinline__ Part part_at(const Work& work, SequenceFinder<S>& sequences,
                                        int number) {
  Part part;
  part.item = -1;
  const int heads = quotient(number, work.row_tiles_reciprocal);
  part.row_tile = number - heads * work.row_tiles;
  const int at = quotient(heads, work.kv_heads_reciprocal);
  part.head = heads - at * work.kv_heads;
  sequences.find(at, part);
  set_steps<S>(work, part);
  return part;
}

// The part of this block, which its cluster has of one tile of rows. There is none if the sequence
// has no more parts than `index`.
template <typename S>
__device__ __forceinline__ Part part_of_cluster(const Work& work) {
  const int block = static_cast<int>(blockIdx.x);
  Part part;
  part.item = -1;
  part.index = block % 2;
  const int heads = quotient(block / 2, work.row_tiles_reciprocal);
  part.row_tile = block / 2 - heads * work.row_tiles;
  part.batch = quotient(heads, work.kv_heads_reciprocal);
  part.head = heads - part.batch * work.kv_heads;
  part.keys = keys_of(work, part.batch);
  part.first = 0;  // the parts are not stored
  set_steps<S>(work, part);
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
__device__ __forceinline__ Part item_at(const Work& work, const SequenceFinder<S>& sequences,
                                        int number) {
  Part part;
  const int tile = quotient(number, work.tile_items_reciprocal);
  part.item = number - tile * work.tile_items;
  const int rows = quotient(tile, work.kv_heads_reciprocal);
  part.head = tile - rows * work.kv_heads;
  part.batch = quotient(rows, work.row_tiles_reciprocal);
  part.row_tile = rows - part.batch * work.row_tiles;
  sequences.look_up(part);
  part.parts = parts_of<S>(work, part.keys);
  part.index = part.step = part.end = 0;
  return part;
}

#endif
