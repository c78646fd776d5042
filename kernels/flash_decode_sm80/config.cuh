// The configuration of one kernel and what follows from it, all at compile time. Properties of
// problems are arguments: one kernel serves every length, batch, group, mask and layout.
#ifndef FATUNE_KERNELS_FLASH_DECODE_SM80_CONFIG_CUH
#define FATUNE_KERNELS_FLASH_DECODE_SM80_CONFIG_CUH

// The parameters of family.json that decide the machine code: PART_KEYS is an argument.
struct FlashDecodeConfig {
  int dtype;  // 5: FP16, 15: BF16
  int d_head;
  int ROWS;           // packed rows of a tile: queries x heads of a group
  int STEP_KEYS;      // keys of a step
  int NUM_STAGES;     // steps of K and V in shared memory
  int WARPS;          // of a block
  int BLOCKS_PER_SM;  // what registers and shared memory are meant for
};

template <FlashDecodeConfig kConfig>
struct Shape {
  static constexpr bool kIsBf16 = kConfig.dtype == 15;
  static constexpr int kHeadDim = kConfig.d_head;
  static constexpr int kRows = kConfig.ROWS;
  static constexpr int kStepKeys = kConfig.STEP_KEYS;
  static constexpr int kStages = kConfig.NUM_STAGES;
  static constexpr int kWarps = kConfig.WARPS;
  static constexpr int kThreads = 32 * kWarps;

  // A warp has 16 of the tile's rows, and the keys of a step that none of the other warps with the
  // same rows has.
  static constexpr int kRowWarps = kRows / 16;
  static constexpr int kKeyWarps = kWarps / kRowWarps;
  static constexpr int kWarpKeys = kStepKeys / kKeyWarps;

  static constexpr int kRowBytes = 2 * kHeadDim;
  static constexpr int kChunks = kHeadDim / 8;  // of 16 bytes, of a row

  // Accumulators of a thread: of S and of O.
  static constexpr int kScores = kWarpKeys / 2;
  static constexpr int kOutputs = kHeadDim / 2;
  static constexpr bool kLazyRescale = true;  // see online_softmax.cuh
  // Registers that a thread may have if as many blocks as meant share an SM.
  static constexpr int kRegisters = 65536 / (kThreads * kConfig.BLOCKS_PER_SM);
  // Q stays in registers where they suffice; else each step reads it from shared memory.
  static constexpr bool kKeepsQuery =
      3 * kHeadDim / 4 + 3 * kScores / 2 + 72 <= (kRegisters < 255 ? kRegisters : 255);

  static_assert(kRows % 16 == 0 && kWarps % kRowWarps == 0, "16 rows for each warp");
  static_assert(kWarpKeys % 16 == 0, "whole products");
  static_assert(kStepKeys >= 16 * kWarps, "the warps' sums of O fit a stage");
};

// Byte offsets in dynamic shared memory, which is aligned to 128 bytes.
template <typename S>
struct SmemPlan {
  static constexpr unsigned kBytesKv = S::kStepKeys * S::kRowBytes;  // of K or V of a stage
  static constexpr unsigned kBytesQ = S::kRows * S::kRowBytes;
  static constexpr int kSlots = 4;  // parts that are known at a time: see PartQueue

  static constexpr unsigned kQ = S::kStages * 2 * kBytesKv;
  static constexpr unsigned kStatistics = kQ + 2 * kBytesQ;  // [key warps][rows] of RowState
  static constexpr unsigned kParts = kStatistics + S::kKeyWarps * S::kRows * 8;
  static constexpr unsigned kVerdict = kParts + kSlots * 48;
  static constexpr unsigned kBytes = kVerdict + 16;

  __device__ __forceinline__ static constexpr unsigned key(int stage) {
    return stage * 2 * kBytesKv;
  }
  __device__ __forceinline__ static constexpr unsigned value(int stage) {
    return key(stage) + kBytesKv;
  }
  // Q of the part with this number among the block's.
  __device__ __forceinline__ static constexpr unsigned query(int number) {
    return kQ + number % 2 * kBytesQ;
  }
};

#endif
