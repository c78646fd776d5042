// The configuration of one kernel and what follows from it, all at compile time. Properties of
// problems are arguments: one kernel serves every length, batch, group, mask and layout.
#ifndef FATUNE_KERNELS_FLASH_DECODE_CONFIG_CUH
#define FATUNE_KERNELS_FLASH_DECODE_CONFIG_CUH

#include "flash_decode/kv_type.cuh"

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
  static constexpr int kBlocksPerSm = kConfig.BLOCKS_PER_SM;

  // Up to 32 rows, and 64 with K and V of 8 bits, are columns of the products of one warpgroup
  // (short_consumer.cuh). More are rows, 64 for each warpgroup (tall_consumer.cuh).
  static constexpr bool kTall = kRows >= 64 && !kKvIs8Bit;
  // V is the first 512 of 576 columns of K. Two consumers have the same 64 rows then, and half of
  // the columns of O each (tall_latent_consumer.cuh).
  enum : bool { kLatent = kConfig.d_head == 576 };
  enum : int { kHeadDimV = kLatent ? 512 : kHeadDim };
  static constexpr int kGroups = kLatent ? 2 : kTall ? kRows / 64 : 1;  // consumers, warpgroups
  static constexpr int kConsumers = 128 * kGroups;                      // their threads
  static constexpr int kConsumerWarps = 4 * kGroups;
  enum : int { kTileWarps = kLatent ? 4 : kConsumerWarps };  // that free a tile of K or V
  // Of a thread, for O and scores of a tile that is not tall.
  enum : int { kColumnRegisters = kRows * (kHeadDim + kStepKeys) / 128 };
  // Tall consumers, and those of two blocks with many columns, need registers of the producer's
  // warpgroup, which is whole then.
  enum : bool {
    kGivesRegisters = kTall || (kKvIs8Bit && kBlocksPerSm == 2 && kColumnRegisters > 80)
  };
  // A warp loads, and a warp counts parts; two load the queries of tall consumers.
  static constexpr int kThreads = kConsumers + (kGivesRegisters ? 128 : 64);
  // Registers per thread of such consumers, and of the producer's warpgroup, after setmaxnreg.
  static constexpr int kConsumerRegisters = kGroups == 3        ? 160
                                            : kGroups == 2      ? 232
                                            : kBlocksPerSm == 1 ? 256
                                            : kKvIs8Bit         ? 224
                                                                : 216;
  static constexpr int kProducerRegisters = kGroups == 3        ? 32
                                            : kGroups == 2      ? 40
                                            : kBlocksPerSm == 1 ? 56
                                            : kKvIs8Bit         ? 32
                                                                : 40;
  static constexpr int kSlots = 2;              // parts that the producer may be ahead
  enum : int { kKvBytes = kKvIs8Bit ? 1 : 2 };  // of an element of K or V
  // The type of P. fp16 holds 8-bit elements of V as well as bf16 does, and P more exactly.
  enum : bool { kProbabilitiesAreBf16 = kIsBf16 && !kKvIs8Bit };
  // How many of these parts have their Q: one, if two tiles do not fit beside the stages.
  static constexpr int kQueryTiles =
      kLatent || kHeadDim * (2 * kKvBytes * kStages * kStepKeys + 4 * kRows) +
                         (kTall ? 0 : kRows * (2 * kStepKeys + 16)) + 1024 >
                     232448
          ? 1
          : 2;

  static constexpr int kPanels = kHeadDim / 64;
  // Tiles of K and V have panels of their own: a line is 128 bytes, or a row if that is shorter.
  enum : int {
    kLineBytes = kHeadDim * kKvBytes < 128 ? kHeadDim * kKvBytes : 128,
    kKvPanels = kHeadDim * kKvBytes / kLineBytes
  };
  static constexpr int kKeyTiles = kStepKeys / 64;  // 64-row products of S^T = K Q^T
  // Accumulators of a thread: of one of these products, or of S.
  static constexpr int kScores = kTall ? kStepKeys / 2 : kRows / 2;
  static constexpr int kOutputs = kHeadDimV / (kLatent ? 4 : 2);  // tall: those of O of a thread
  static constexpr int kRefs = kTall ? 2 : kRows / 4;  // rows that a thread has scores of
  static constexpr bool kLazyRescale = true;           // see online_softmax.cuh

  static_assert((kTall || kStepKeys % 64 == 0) && kHeadDim % 64 == 0 && kRows % 8 == 0,
                "whole products");
  static_assert(!kTall || kRows % 64 == 0, "a tall consumer has 64 rows");
  static_assert(!kLatent || (kRows == 64 && kStepKeys == 64 && kStages == 2),
                "each of two consumers has a buffer of keys");
  static_assert(!kTall || kBlocksPerSm * kThreads <= 512, "registers for each consumer");
  static_assert(!kKvIs8Bit || (kRows <= 64 && !kLatent), "K and V of 8 bits have short tiles");
};

// Byte offsets in dynamic shared memory, which is aligned to 1024 bytes. All tiles consist of
// panels, lines of 128 bytes whose 16-byte chunk c is at c ^ (line % 8): the 128-byte swizzle of
// TMA and wgmma. Lines of 64 bytes (64 columns of 8 bits) have the 64-byte swizzle: c ^ (line / 2 %
// 4).
template <typename S>
struct SmemPlan {
  static constexpr unsigned kPanelBytesKv = S::kStepKeys * S::kLineBytes;
  static constexpr unsigned kBytesKv = S::kKvPanels * kPanelBytesKv;
  // A stage has a tile of K and one of V. A latent tile is both: its first four panels, which the
  // first consumer frees, and the others, which the second one does.
  enum : int { kFirstPanels = S::kLatent ? 4 : S::kKvPanels };
  enum : unsigned {
    kFirstBytes = kFirstPanels * kPanelBytesKv,
    kSecondBytes = S::kLatent ? kBytesKv - kFirstBytes : kBytesKv,
    kStageBytes = kFirstBytes + kSecondBytes
  };
  static constexpr unsigned kPanelBytesQ = S::kRows * 128;
  static constexpr unsigned kBytesQ = S::kPanels * kPanelBytesQ;
  // P is [64-key panels][rows][64 keys]; a tall consumer has it in registers. A latent one hands it
  // over, with the state of the softmax: [4 + 1][128 threads] words of 16 bytes.
  static constexpr unsigned kBytesP = S::kLatent ? 5 * 128 * 16
                                      : S::kTall ? 0
                                                 : S::kKeyTiles * kPanelBytesQ;

  static constexpr unsigned kQ = S::kStages * kStageBytes;
  static constexpr unsigned kP = kQ + S::kQueryTiles * kBytesQ;
  static constexpr unsigned kStatistics = kP + kBytesP;  // [4 warps][rows] fp32
  static constexpr unsigned kParts = kStatistics + (S::kTall ? 0 : 4 * S::kRows * 4);
  static constexpr unsigned kVerdicts =
      kParts + S::kSlots * 48;  // whether a part was the last of its rows
  static constexpr unsigned kBarriers = kVerdicts + 16;
  static constexpr unsigned kBytes =
      kBarriers + 16 * (2 * S::kStages + 3 * S::kSlots) + (S::kLatent ? 96 : 0);
  // What the first block of a cluster took from the counter, and its mbarriers.
  enum : unsigned {
    kTakenFull = kBytes - 32,
    kTakenEmpty = kTakenFull + 8,
    kTaken = kTakenFull + 16
  };
  // P of a latent consumer's warp is there: an mbarrier for each of the four warps of both.
  __device__ __forceinline__ static constexpr unsigned full_handover(int group, int warp) {
    return kTakenFull - 64 + 8 * (4 * group + warp);
  }
  // Where the sums of two parts are added up, the mbarriers of what another block sends.
  enum : unsigned { kSentFree = kTakenFull, kSentFull = kTakenEmpty };

  __device__ __forceinline__ static constexpr unsigned key(int stage) {
    return stage * kStageBytes;
  }
  __device__ __forceinline__ static constexpr unsigned value(int stage) {
    return key(stage) + kFirstBytes;
  }
  __device__ __forceinline__ static constexpr unsigned query(int slot) {
    return kQ + slot % S::kQueryTiles * kBytesQ;
  }
  // mbarriers of 8 bytes: "full" and "empty" alternate.
  __device__ __forceinline__ static constexpr unsigned full_k(int stage) {
    return kBarriers + 16 * stage;
  }
  __device__ __forceinline__ static constexpr unsigned full_v(int stage) {
    return full_k(S::kStages + stage);
  }
  __device__ __forceinline__ static constexpr unsigned full_part(int slot) {
    return full_v(S::kStages + slot);
  }
  // A part's sums are stored; and its verdict is there.
  __device__ __forceinline__ static constexpr unsigned stored(int slot) {
    return full_part(S::kSlots + slot);
  }
  __device__ __forceinline__ static constexpr unsigned judged(int slot) { return stored(slot) + 8; }
  // A part is there, but not its Q: the query loader of tall consumers waits for this.
  __device__ __forceinline__ static constexpr unsigned passed(int slot) {
    return stored(S::kSlots + slot);
  }
  // A tile of Q may be loaded again.
  __device__ __forceinline__ static constexpr unsigned free_query(int tile) {
    return passed(tile) + 8;
  }
  __device__ __forceinline__ static constexpr unsigned empty(unsigned full) { return full + 8; }
};

// Returns the value, which all threads of a warp have. The shuffle tells the compiler so. It then
// keeps the value and what follows from it in uniform registers, where wgmma needs its descriptors.
// threads: whole warps, converged
template <typename T>
__device__ __forceinline__ T warp_uniform(T value) {
  return __shfl_sync(0xffffffffu, value, 0);
}

// The bits of an address that is aligned to 1024 bytes. The mask tells the compiler that it is.
inline constexpr unsigned kAligned1024 = ~1023u;

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
  __device__ __forceinline__ void retreat() {
    if (--index < 0) {
      index = kCount - 1;
      parity ^= 1;
    }
  }
};

// Returns the place in such a ring of the tile with this number, which is warp-uniform.
template <int kCount>
__device__ __forceinline__ Ring<kCount> ring_at(int number) {
  return {number % kCount, static_cast<unsigned>(number) / kCount & 1};
}

#endif
