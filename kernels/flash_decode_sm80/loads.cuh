// Loads of Q, K and V into shared memory, by all threads of the block.
#ifndef FATUNE_KERNELS_FLASH_DECODE_SM80_LOADS_CUH
#define FATUNE_KERNELS_FLASH_DECODE_SM80_LOADS_CUH

#include "common/ptx_memory.cuh"
#include "flash_decode/part_schedule.cuh"
#include "flash_decode_sm80/config.cuh"
#include "flash_decode_sm80/kernel_args.cuh"
#include "flash_decode_sm80/tile.cuh"

// Loads the steps of one part after the other. A thread copies one chunk of 16 bytes of some rows.
// threads: the block, in all functions
template <typename S>
class Loads {
 public:
  using Plan = SmemPlan<S>;

  __device__ __forceinline__ Loads(const KeysAndValues& kv, const Work& work, unsigned smem)
      : kv_(kv),
        work_(work),
        smem_(smem),
        row_(static_cast<int>(threadIdx.x) / S::kChunks),
        chunk_(static_cast<int>(threadIdx.x) % S::kChunks),
        offset_(chunk_offset<S>(row_, chunk_)) {}

  // Begins with a part: starts to load its Q. number: of the part among the block's
  __device__ __forceinline__ void begin(const Part& part, int number) {
    steps_ = part.end - part.step;
    key_ = part.step * S::kStepKeys + row_;
    keys_ = part.keys;
    k_ = kv_.k + part.batch * kv_.k_batch_stride + part.head * kv_.k_head_stride +
         static_cast<long long>(key_) * kv_.k_row_stride + 8 * chunk_;
    v_ = kv_.v + part.batch * kv_.v_batch_stride + part.head * kv_.v_head_stride +
         static_cast<long long>(key_) * kv_.v_row_stride + 8 * chunk_;
    load_queries(part, smem_ + Plan::query(number));
  }

  // Starts to load K and V of the part's next step, if there is one.
  __device__ __forceinline__ void load_step(int stage) {
    if (steps_ <= 0) {
      return;
    }
    if (key_ - row_ + S::kStepKeys <= keys_) {
      load_tile<false>(smem_ + Plan::key(stage), k_, kv_.k_row_stride);
      load_tile<false>(smem_ + Plan::value(stage), v_, kv_.v_row_stride);
    } else {
      load_tile<true>(smem_ + Plan::key(stage), k_, kv_.k_row_stride);
      load_tile<true>(smem_ + Plan::value(stage), v_, kv_.v_row_stride);
    }
    --steps_;
    key_ += S::kStepKeys;
    k_ += static_cast<long long>(kv_.k_row_stride) * S::kStepKeys;
    v_ += static_cast<long long>(kv_.v_row_stride) * S::kStepKeys;
  }

 private:
  static constexpr int kRowsAtOnce = S::kThreads / S::kChunks;
  static constexpr int kQueryPasses = (S::kRows + kRowsAtOnce - 1) / kRowsAtOnce;
  static_assert(S::kStepKeys % kRowsAtOnce == 0, "whole passes");

  // Byte offset of the thread's chunk of row row_ + first, where first is a multiple of
  // kRowsAtOnce, a power of two, and so has none of row_'s bits.
  __device__ __forceinline__ unsigned offset_of(int first) const {
    return (offset_ ^ (16 * (first & 7))) + first * S::kRowBytes;
  }

  // Copies a tile of K or V. from: the thread's chunk of its first row. With kGuarded, rows behind
  // the sequence's end become zeros, and are not read.
  template <bool kGuarded>
  __device__ __forceinline__ void load_tile(unsigned tile, const unsigned short* from,
                                            int stride) const {
#pragma unroll
    for (int row = 0; row < S::kStepKeys; row += kRowsAtOnce) {
      if constexpr (kGuarded) {
        const bool is_there = key_ + row < keys_;
        cp_async_16_or_zero(tile + offset_of(row), is_there ? from : kv_.k, is_there);
      } else {
        cp_async_16(tile + offset_of(row), from);
      }
      from += static_cast<long long>(stride) * kRowsAtOnce;
    }
  }

  // Rows of the tile that no query fills become zeros.
  __device__ __forceinline__ void load_queries(const Part& part, unsigned tile) const {
    const int first = part.row_tile * work_.tile_rows;
    const int rows = min(work_.tile_rows, work_.seq_len * work_.group - first);
    const unsigned short* const from =
        work_.q + part.batch * work_.q_batch_stride +
        static_cast<long long>(part.head * work_.group) * work_.q_head_stride + 8 * chunk_;
#pragma unroll
    for (int pass = 0; pass < kQueryPasses; ++pass) {
      const int row = row_ + pass * kRowsAtOnce;
      const int packed = first + min(row, rows - 1);
      const int query = query_of(work_, packed);
      const int head = packed - query * work_.group;
      if (S::kRows % kRowsAtOnce == 0 || row < S::kRows) {
        cp_async_16_or_zero(tile + offset_of(pass * kRowsAtOnce),
                            from + static_cast<long long>(query) * work_.q_row_stride +
                                static_cast<long long>(head) * work_.q_head_stride,
                            row < rows);
      }
    }
  }

  const KeysAndValues& kv_;
  const Work& work_;
  const unsigned smem_;
  const int row_;  // the first
  const int chunk_;
  const unsigned offset_;              // of that chunk in a tile
  int steps_ = 0;                      // that are left
  int key_ = 0;                        // of the thread's first row of the next step
  int keys_ = 0;                       // of the sequence
  const unsigned short* k_ = nullptr;  // that row of K, at the thread's chunk
  const unsigned short* v_ = nullptr;
};

#endif
