// Where everything lies in shared memory.
//
// A tile of r rows is [panels][r][64] 16-bit elements: lines of 128 bytes, whose 16-byte chunk c of
// line i lies at chunk c ^ (i % 8). TMA writes it so, and wgmma reads it so.
#ifndef FATUNE_KERNELS_FLASH_SM90_SMEM_PLAN_CUH
#define FATUNE_KERNELS_FLASH_SM90_SMEM_PLAN_CUH

#include "flash_sm90/config.cuh"

// Byte offsets from the start of dynamic shared memory, which is at a multiple of 1024.
template <typename S>
struct SmemPlan {
  static constexpr unsigned kBytesQGroup = S::kGroupRows * S::kHeadDim * 2;  // one consumer's rows
  static constexpr unsigned kBytesQ = S::kGroups * kBytesQGroup;
  static constexpr unsigned kBytesKv = S::kBlockN * S::kHeadDim * 2;
  static constexpr unsigned kPanelBytesQ = S::kGroupRows * 128;
  static constexpr unsigned kPanelBytesKv = S::kBlockN * 128;

  static constexpr unsigned kK = S::kQuerySlots * kBytesQ;
  static constexpr unsigned kV = kK + S::kStages * kBytesKv;
  static constexpr unsigned kBarriers = kV + S::kStages * kBytesKv;

  // mbarriers, 8 bytes each: full and empty in turn.
  __device__ __forceinline__ static constexpr unsigned full_q(int slot, int group) {
    return kBarriers + 16 * (slot * S::kGroups + group);
  }
  __device__ __forceinline__ static constexpr unsigned full_k(int stage) {
    return full_q(S::kQuerySlots, 0) + 16 * stage;
  }
  __device__ __forceinline__ static constexpr unsigned full_v(int stage) {
    return full_k(S::kStages) + 16 * stage;
  }
  __device__ __forceinline__ static constexpr unsigned full_tile(int slot) {
    return full_v(S::kStages) + 16 * slot;
  }
  // Where a tile's index is handed on, with `dynamic`.
  __device__ __forceinline__ static constexpr unsigned tile(int slot) {
    return full_tile(S::kTileSlots) + 4 * slot;
  }
  // The other barrier of a slot or stage.
  __device__ __forceinline__ static constexpr unsigned empty(unsigned full) { return full + 8; }

  __device__ __forceinline__ static constexpr unsigned query(int slot, int group) {
    return slot * kBytesQ + group * kBytesQGroup;
  }
  __device__ __forceinline__ static constexpr unsigned key(int stage) {
    return kK + stage * kBytesKv;
  }
  __device__ __forceinline__ static constexpr unsigned value(int stage) {
    return kV + stage * kBytesKv;
  }
};

// A place in a ring of buffers, and the parity of the phase in which it is full.
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

  int uses_ = 0;  // so far; of a count that is no power of two: the index times 2, and the parity
};

#endif
