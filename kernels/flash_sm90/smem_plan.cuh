// The layout of shared memory.
//
// A tile of r rows is [panels][r][64] 16-bit elements, or [panels][r][128] of 8 bits, that is lines
// of 128 bytes. The 16-byte
// chunk c of line i is stored at chunk c ^ (i % 8): the 128-byte swizzle of TMA and wgmma. Where
// a row's elements do not fill its panels, zeros follow them: TMA reads them past the row's end.
#ifndef FATUNE_KERNELS_FLASH_SM90_SMEM_PLAN_CUH
#define FATUNE_KERNELS_FLASH_SM90_SMEM_PLAN_CUH

#include "flash_sm90/config.cuh"

// The panels of a tile whose rows have kColumns elements of 16 bits, or of Q, K and V of 8 bits.
template <int kColumns, bool kOf8Bits = kEightBits>
struct Panels {
  enum Extent : int {
    kWidth = kOf8Bits ? 128 : 64,  // columns of a panel
    kCount = (kColumns + kWidth - 1) / kWidth,
    // Whether panels are a dimension of the tensor map, so that one copy takes several. Else a row
    // of the map has kColumns elements, and each panel is copied alone, to where the row ends.
    kInMap = kColumns % kWidth == 0,
    kPerCopy = kInMap ? kCount : 1,
    kQueriesPerCopy = kRowHeads > 1 ? 1 : kPerCopy  // of Q and O
  };
};

// Returns where the box of a panel begins in its tensor.
// shape: row: the box's first; panel: index in the row
template <int kColumns, bool kOf8Bits = kEightBits>
__device__ __forceinline__ Coordinates5 panel_at(int row, int panel, int head, int batch) {
  using OfRow = Panels<kColumns, kOf8Bits>;
  return {OfRow::kInMap ? 0 : panel * OfRow::kWidth, row, OfRow::kInMap ? panel : 0, head, batch};
}

// The same of Q and O. With pack_gqa a box has one panel, and `head` is the group's number.
// shape: query: the box's first, a row of the tensor
template <int kColumns, bool kOf8Bits = kEightBits>
__device__ __forceinline__ Coordinates5 queries_at(int query, int panel, int head, int batch) {
  if constexpr (kRowHeads > 1) {
    return {panel * Panels<kColumns, kOf8Bits>::kWidth, 0, query, head, batch};
  } else {
    return panel_at<kColumns, kOf8Bits>(query, panel, head, batch);
  }
}

// Calls `copy` with the first panel of each copy of kPerCopy panels. This is no loop: with one,
// NVRTC 13.0 unrolls the loops around it, and the producer of some kernels spills.
template <int kPanels, int kPerCopy, int kFirst = 0, typename Copy>
__device__ __forceinline__ void for_each_copy(const Copy& copy) {
  copy(kFirst);
  if constexpr (kFirst + kPerCopy < kPanels) {
    for_each_copy<kPanels, kPerCopy, kFirst + kPerCopy>(copy);
  }
}

// Byte offsets from the start of dynamic shared memory, which is aligned to 1024 bytes.
template <typename S>
struct SmemPlan {
  enum Extent : unsigned {
    kLineBytes = 128,
    kSlotsQ = S::kQuerySlots * S::kGroups + (S::kSpareSlot ? 1 : 0),  // for a consumer's rows
    kBytesV = S::kBlockN * S::kPanelsV * kLineBytes,                  // a tile of V
    kBytesQueries = S::kUsedRows * S::kPanels * kLineBytes,  // what a consumer's queries fill of Q
    kPanelsQO = kEightBits ? S::kPanelsO : S::kPanels,       // of a slot of Q, which O reuses
    kPanelBytesT = (S::kHeadDimV + S::kSumColumns) * kLineBytes,  // 128 keys of transposed V
    kBytesT = kEightBits ? (S::kBlockN + 127) / 128 * kPanelBytesT : 0
  };
  static constexpr unsigned kBytesQGroup = S::kGroupRows * kPanelsQO * kLineBytes;  // one consumer
  static constexpr unsigned kBytesQ = S::kGroups * kBytesQGroup;
  static constexpr unsigned kBytesKv = S::kBlockN * S::kPanels * kLineBytes;  // a tile of K
  static constexpr unsigned kPanelBytesQ = S::kGroupRows * kLineBytes;
  static constexpr unsigned kPanelBytesKv = S::kBlockN * kLineBytes;

  static constexpr unsigned kK = kSlotsQ * kBytesQGroup;
  static constexpr unsigned kV = kK + S::kStages * kBytesKv;
  static constexpr unsigned kBarriers = kV + S::kStages * (kBytesV + kBytesT);

  // mbarriers of 8 bytes: "full" and "empty" alternate. A slot of Q is one of the consumer's or,
  // with a spare one, of all.
  __device__ __forceinline__ static constexpr unsigned full_q(int slot, int group) {
    if constexpr (S::kSpareSlot) {
      return kBarriers + 16 * slot;
    } else {
      return kBarriers + 16 * (slot * S::kGroups + group);
    }
  }
  __device__ __forceinline__ static constexpr unsigned full_k(int stage) {
    return kBarriers + 16 * kSlotsQ + 16 * stage;
  }
  __device__ __forceinline__ static constexpr unsigned full_v(int stage) {
    return full_k(S::kStages) + 16 * stage;
  }
  __device__ __forceinline__ static constexpr unsigned full_tile(int slot) {
    return full_v(S::kStages) + 16 * slot;
  }
  // Slot in which the producer hands a tile's index on (dynamic schedule), or of a packed batch the
  // tile itself.
  __device__ __forceinline__ static constexpr unsigned tile(int slot) {
    return full_tile(S::kTileSlots) + (kPacked ? 32 : 4) * slot;
  }
  // The barrier at which consumers wait for a tile of V. Where rows behind a sequence's end are
  // cleared, it is one of its own, at which the warp arrives that has done so.
  __device__ __forceinline__ static constexpr unsigned ready_v(int stage) {
    return kEightBits      ? full_t(stage)
           : kClearsValues ? tile(S::kTileSlots) + 8 * stage
                           : full_v(stage);
  }
  // Of V of 8 bits, transposed.
  __device__ __forceinline__ static constexpr unsigned full_t(int stage) {
    return tile(S::kTileSlots) + 16 * stage;
  }
  // The "full" barrier of the buffer from which consumers read V.
  __device__ __forceinline__ static constexpr unsigned read_v(int stage) {
    return kEightBits ? full_t(stage) : full_v(stage);
  }
  // The "empty" barrier that belongs to a "full" one.
  __device__ __forceinline__ static constexpr unsigned empty(unsigned full) { return full + 8; }

  __device__ __forceinline__ static constexpr unsigned query(int slot, int group) {
    if constexpr (S::kSpareSlot) {
      return slot * kBytesQGroup;
    } else {
      return slot * kBytesQ + group * kBytesQGroup;
    }
  }
  __device__ __forceinline__ static constexpr unsigned key(int stage) {
    return kK + stage * kBytesKv;
  }
  __device__ __forceinline__ static constexpr unsigned value(int stage) {
    return kV + stage * kBytesV;
  }
  // V of 8 bits, transposed: transposed_values.cuh.
  __device__ __forceinline__ static constexpr unsigned transposed(int stage) {
    return kV + S::kStages * kBytesV + stage * kBytesT;
  }
};

// Position in a ring of buffers, with the parity of the mbarrier phase in which it is full.
template <int kCount>
class Ring {
 public:
  __device__ __forceinline__ int index() const {
    return kIsPowerOfTwo ? uses_ & (kCount - 1) : uses_ >> 1;
  }
  __device__ __forceinline__ unsigned parity() const {
    return static_cast<unsigned>(kIsPowerOfTwo ? uses_ / kCount : uses_) & 1;
  }
  __device__ __forceinline__ void advance() {
    if constexpr (kIsPowerOfTwo) {
      ++uses_;
    } else {
      uses_ += 2;
      uses_ = uses_ >> 1 == kCount ? (uses_ & 1) ^ 1 : uses_;
    }
  }

 private:
  static constexpr bool kIsPowerOfTwo = (kCount & (kCount - 1)) == 0;

  int uses_ = 0;  // uses so far; if the count is not a power of two, 2 * index + parity
};

// Position in a ring of buffers that several users fill in turn: each goes on by kStep.
template <int kCount, int kStep>
class SharedRing {
 public:
  // Begins with this buffer, which the user is the first to fill.
  __device__ __forceinline__ void begin_at(int first) { use_ = first; }
  __device__ __forceinline__ int index() const { return use_ % kCount; }
  __device__ __forceinline__ unsigned parity() const { return use_ / kCount; }
  __device__ __forceinline__ void advance() {
    use_ += kStep;
    use_ = use_ < 2 * kCount ? use_ : use_ - 2 * kCount;
  }

 private:
  int use_ = 0;  // counts the uses of all buffers, up to two of each
};

// How the slots of Q follow each other, for 64 rows each: of a consumer and of the producer.
template <typename S, bool kSpare = S::kSpareSlot>
struct QuerySlots {
  using OfConsumer = Ring<S::kQuerySlots>;  // of its own
  using OfProducer = Ring<S::kQuerySlots>;  // of each consumer
};
template <typename S>
struct QuerySlots<S, true> {
  using OfConsumer = SharedRing<S::kGroups + 1, S::kGroups>;  // of all
  using OfProducer = SharedRing<S::kGroups + 1, 1>;
};

#endif
