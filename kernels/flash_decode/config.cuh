// The configuration of one kernel and what follows from it, all at compile time. Properties of
// problems are arguments: one kernel serves every length, batch, group, mask and layout.
#ifndef FATUNE_KERNELS_FLASH_DECODE_CONFIG_CUH
#define FATUNE_KERNELS_FLASH_DECODE_CONFIG_CUH

// The parameters of family.json that decide the machine code: PART_KEYS is an argument.
struct FlashDecodeConfig {
  int dtype;  // 5: FP16, 15: BF16
  int d_head;
  int ROWS;           // packed rows of a tile: queries x heads of a group
  int STEP_KEYS;      // keys of a step
  int NUM_STAGES;     // steps of K and V in shared memory
  int BLOCKS_PER_SM;  // what registers and shared memory are meant for
};

template <FlashDecodeConfig kConfig>
struct Shape {
  static constexpr bool kIsBf16 = kConfig.dtype == 15;
  static constexpr int kHeadDim = kConfig.d_head;
  static constexpr int kRows = kConfig.ROWS;
  static constexpr int kStepKeys = kConfig.STEP_KEYS;
  static constexpr int kStages = kConfig.NUM_STAGES;
  static constexpr int kConsumers = 128;            // threads of the consumer, a warpgroup
  static constexpr int kThreads = kConsumers + 64;  // a warp loads, and a warp counts parts
  static constexpr int kSlots = 2;  // parts that the producer may be ahead, with their Q

  static constexpr int kPanels = kHeadDim / 64;
  static constexpr int kKeyTiles = kStepKeys / 64;  // 64-row products of S^T = K Q^T
  static constexpr int kScores = kRows / 2;         // accumulators of one of them in a thread
  static constexpr int kRefs = kRows / 4;           // rows that a thread has scores of

  static_assert(kStepKeys % 64 == 0 && kHeadDim % 64 == 0 && kRows % 8 == 0, "whole products");
};

// Byte offsets in dynamic shared memory, which is aligned to 1024 bytes. All tiles consist of
// panels of 64 columns, lines of 128 bytes whose 16-byte chunk c is at c ^ (line % 8): the 128-byte
// swizzle of TMA and wgmma.
template <typename S>
struct SmemPlan {
  static constexpr unsigned kPanelBytesKv = S::kStepKeys * 128;
  static constexpr unsigned kBytesKv = S::kPanels * kPanelBytesKv;
  static constexpr unsigned kPanelBytesQ = S::kRows * 128;
  static constexpr unsigned kBytesQ = S::kPanels * kPanelBytesQ;
  static constexpr unsigned kBytesP =
      S::kKeyTiles * kPanelBytesQ;  // P is [64-key panels][rows][64 keys]

  static constexpr unsigned kQ = S::kStages * 2 * kBytesKv;
  static constexpr unsigned kP = kQ + S::kSlots * kBytesQ;
  static constexpr unsigned kStatistics = kP + kBytesP;  // [4 warps][rows] fp32
  static constexpr unsigned kParts = kStatistics + 4 * S::kRows * 4;
  static constexpr unsigned kVerdicts =
      kParts + S::kSlots * 48;  // whether a part was the last of its rows
  static constexpr unsigned kBarriers = kVerdicts + 16;
  static constexpr unsigned kBytes = kBarriers + 16 * (S::kStages + 2 * S::kSlots);

  __device__ __forceinline__ static constexpr unsigned key(int stage) {
    return stage * 2 * kBytesKv;
  }
  __device__ __forceinline__ static constexpr unsigned value(int stage) {
    return key(stage) + kBytesKv;
  }
  __device__ __forceinline__ static constexpr unsigned query(int slot) {
    return kQ + slot * kBytesQ;
  }
  // mbarriers of 8 bytes: "full" and "empty" alternate.
  __device__ __forceinline__ static constexpr unsigned full(int stage) {
    return kBarriers + 16 * stage;
  }
  __device__ __forceinline__ static constexpr unsigned full_part(int slot) {
    return full(S::kStages + slot);
  }
  // A part's sums are stored; and its verdict is there.
  __device__ __forceinline__ static constexpr unsigned stored(int slot) {
    return full(S::kStages + S::kSlots + slot);
  }
  __device__ __forceinline__ static constexpr unsigned judged(int slot) { return stored(slot) + 8; }
  __device__ __forceinline__ static constexpr unsigned empty(unsigned full) { return full + 8; }
};

// Position in a ring of buffers, with the parity of the mbarrier phase in which it is full.
template <int kCount>
struct Ring {
  int index = 0;
  unsigned parity = 0;

  __device__ __forceinline__ void advance() {
    if (++index == kCount) {
      index = 0;
      parity ^= 1;
    }
  }
};

#endif
