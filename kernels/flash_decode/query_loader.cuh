// The query loader of tall consumers: two warps that bring the rows of parts' tiles of Q into
// shared memory, one by one, if tiles begin and end within the heads of a query, so that no box of
// a tensor map has their rows. Otherwise the producer loads Q.
#ifndef FATUNE_KERNELS_FLASH_DECODE_QUERY_LOADER_CUH
#define FATUNE_KERNELS_FLASH_DECODE_QUERY_LOADER_CUH

#include "common/ptx_barrier.cuh"
#include "common/ptx_memory.cuh"
#include "common/ptx_tma.cuh"
#include "flash_decode/config.cuh"
#include "flash_decode/kernel_args.cuh"
#include "flash_decode/part_schedule.cuh"

// threads: two whole warps, in all functions; thread: index among them
template <typename S>
class QueryLoader {
 public:
  using Plan = SmemPlan<S>;
  static constexpr int kThreads = 64;

  __device__ __forceinline__ QueryLoader(const Work& work, const unsigned char* memory,
                                         unsigned smem, int thread)
      : work_(work), memory_(memory), smem_(smem), thread_(thread) {}

  __device__ __forceinline__ void run() const {
    Ring<S::kSlots> slot;
    Ring<S::kQueryTiles> tile;
#pragma unroll 1
    for (;;) {
      mbarrier_wait(smem_ + Plan::passed(slot.index), slot.parity);
      const Part part = read_part(memory_ + Plan::kParts + 48 * slot.index);
      if (part.batch >= 0 && part.item < 0) {
        mbarrier_wait(smem_ + Plan::free_query(tile.index), tile.parity ^ 1);
        load(part, smem_ + Plan::query(tile.index));
        tile.advance();
      }
      mbarrier_arrive(smem_ + Plan::full_part(slot.index));
      if (part.batch < 0) {
        return;
      }
      slot.advance();
    }
  }

 private:
  static constexpr int kChunks = S::kHeadDim / 8;  // of 16 bytes, of a row
  enum : int { kChunksAtOnce = kChunks > 64 ? 8 : kChunks };
  static constexpr int kRowsAtOnce = kThreads / kChunksAtOnce;

  // Rows that no query fills become 0. sync: out: wgmma may read the tile
  __device__ __forceinline__ void load(const Part& part, unsigned tile) const {
    const int first = part.row_tile * work_.tile_rows;
    const int rows = min(work_.tile_rows, work_.seq_len * work_.group - first);
#pragma unroll 1
    for (int before = 0; before < kChunks; before += kChunksAtOnce) {
      const int chunk = before + thread_ % kChunksAtOnce;
      const unsigned short* const from =
          work_.q + part.batch * work_.q_batch_stride +
          static_cast<long long>(part.head * work_.group) * work_.q_head_stride + 8 * chunk;
      const unsigned to = tile + chunk / 8 * Plan::kPanelBytesQ;
#pragma unroll 2
      for (int row = thread_ / kChunksAtOnce; row < S::kRows; row += kRowsAtOnce) {
        const int packed = first + min(row, rows - 1);
        const int query = query_of(work_, packed);
        const int head = packed - query * work_.group;
        cp_async_16_or_zero(to + row * 128 + 16 * (chunk % 8 ^ row % 8),
                            from + static_cast<long long>(query) * work_.q_row_stride +
                                static_cast<long long>(head) * work_.q_head_stride,
                            row < rows);
      }
    }
    cp_async_wait_all();
    fence_async_proxy();
  }

  const Work& work_;
  const unsigned char* const memory_;
  const unsigned smem_;
  const int thread_;
};

#endif
