// V of 8 bits, transposed: wgmma takes 8-bit operands K-major only, and V's rows are what P V sums.
//
// A tile is [ceil(BLOCK_N / 128)][d_head_v][128], with the lines and the swizzle of other tiles.
// Line n has a column of V, and 16 bytes of it have 16 keys. Within these, byte 4 * t + e is key
// 2 * t + e % 2 + 8 * (e / 2): the order in which a thread has probabilities (pack_e4m3). Of 16
// lines, the first eight are the even columns, and the others are the odd ones, so that no two
// lanes that store at a time meet in a bank (stage_transposed_output).
#ifndef FATUNE_KERNELS_FLASH_SM90_TRANSPOSED_VALUES_CUH
#define FATUNE_KERNELS_FLASH_SM90_TRANSPOSED_VALUES_CUH

#include "common/ptx_barrier.cuh"
#include "common/ptx_fp8.cuh"
#include "common/ptx_mma.cuh"
#include "common/ptx_tma.cuh"
#include "flash_sm90/config.cuh"
#include "flash_sm90/kernel_args.cuh"
#include "flash_sm90/smem_plan.cuh"
#include "flash_sm90/values_end.cuh"

// 32 keys of 16 columns, as one instruction loads or stores them.
struct ValueBlock {
  unsigned words[4];

  // shape: values: the tile; key: the first of 32; column: the first of 16
  template <typename S>
  __device__ __forceinline__ void load(unsigned values, unsigned key, unsigned column,
                                       unsigned lane) {
    using Plan = SmemPlan<S>;
    const unsigned chunk = column % 128 / 16;
    ldmatrix_x4_trans(words, values + column / 128 * Plan::kPanelBytesKv +
                                 (key + lane) * Plan::kLineBytes + 16 * (chunk ^ lane % 8));
  }

  // Makes each word four keys of one column: words 0 and 2 of an even one, 1 and 3 of the next.
  __device__ __forceinline__ void transpose() {
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
      const unsigned even = prmt(words[i], words[i + 1], 0x6420);
      words[i + 1] = prmt(words[i], words[i + 1], 0x7531);
      words[i] = even;
    }
  }

  // Sets keys from `keys` on, counted from the block's first, to 0. After transpose().
  __device__ __forceinline__ void clear(int keys, unsigned lane) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int first = i / 2 * 16 + static_cast<int>(lane % 4 * 2);
      const unsigned low = keys > first + 1 ? 0x0000ffffu : keys > first ? 0x000000ffu : 0;
      const unsigned high = keys > first + 9 ? 0xffff0000u : keys > first + 8 ? 0x00ff0000u : 0;
      words[i] &= low | high;
    }
  }

  // shape: transposed: the tile; key, column: as load
  template <typename S>
  __device__ __forceinline__ void store(unsigned transposed, unsigned key, unsigned column,
                                        unsigned lane) const {
    using Plan = SmemPlan<S>;
    const unsigned line = column + lane % 16;
    const unsigned chunk = key % 128 / 16 + lane / 16;
    stmatrix_x4(transposed + key / 128 * Plan::kPanelBytesT + line * Plan::kLineBytes +
                    16 * (chunk ^ lane % 8),
                words);
  }
};

// Transposes a warp's share of a tile.
// shape:   rows: of the tile, before the sequence's end; warp: index among kHandsOnWarps
// threads: one warp, converged
template <typename S>
__device__ __forceinline__ void transpose_values(unsigned values, unsigned transposed, int rows,
                                                 unsigned warp, unsigned lane) {
  constexpr unsigned kAtOnce = 4;  // blocks of neighbouring columns
  constexpr unsigned kColumns = 16 * kAtOnce;
  constexpr unsigned kAcross = S::kHeadDimV / kColumns;
#pragma unroll 1
  for (unsigned i = warp; i < S::kBlockN / 32 * kAcross; i += S::kHandsOnWarps) {
    const unsigned key = i / kAcross * 32;
    const unsigned column = i % kAcross * kColumns;
    ValueBlock blocks[kAtOnce];
#pragma unroll
    for (unsigned j = 0; j < kAtOnce; ++j) {
      blocks[j].template load<S>(values, key, column + 16 * j, lane);
    }
#pragma unroll
    for (unsigned j = 0; j < kAtOnce; ++j) {
      blocks[j].transpose();
      if (const int left = rows - static_cast<int>(key); kClearsValues && left < 32) {
        blocks[j].clear(left, lane);
      }
      blocks[j].template store<S>(transposed, key, column + 16 * j, lane);
    }
  }
}

// Writes the lines behind those of V's columns, which stay what they are: kSumColumns, of which the
// first one has values of 1.
// shape:   warp: index among kHandsOnWarps
// threads: one warp, converged
template <typename S>
__device__ __forceinline__ void write_sum_columns(unsigned smem, int warp, unsigned lane) {
  using Plan = SmemPlan<S>;
  constexpr unsigned kOnes = 0x38383838;
  constexpr int kPanels = Plan::kBytesT / Plan::kPanelBytesT;
#pragma unroll 1
  for (int panel = warp; panel < S::kStages * kPanels; panel += S::kHandsOnWarps) {
    const unsigned lines =
        smem + Plan::transposed(0) + panel * Plan::kPanelBytesT + S::kHeadDimV * Plan::kLineBytes;
#pragma unroll
    for (unsigned chunk = lane; chunk < 8 * S::kSumColumns; chunk += 32) {
      const unsigned word = chunk < 8 ? kOnes : 0;
      st_shared_16(lines + 16 * chunk, make_uint4(word, word, word, word));
    }
  }
}

// Hands on each tile of V that has arrived, transposed.
// shape:   warp: index among kHandsOnWarps
// threads: one warp, converged
template <typename S>
__device__ __forceinline__ void hand_on_transposed_values(const Work& work, unsigned smem,
                                                          int warp) {
  using Plan = SmemPlan<S>;
  const unsigned lane = threadIdx.x % 32;
  write_sum_columns<S>(smem, warp, lane);
  for_each_values<S>(work, smem, [&](int stage, unsigned parity, int rows) {
    const unsigned full = smem + Plan::full_t(stage);
    mbarrier_wait(Plan::empty(full), parity ^ 1);
    transpose_values<S>(smem + Plan::value(stage), smem + Plan::transposed(stage), rows, warp,
                        lane);
    fence_async_proxy();
    __syncwarp();
    if (lane == 0) {
      mbarrier_arrive(full);
      mbarrier_arrive(smem + Plan::empty(Plan::full_v(stage)));
    }
  });
}

#endif
