#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/ranges.hpp"
#include "emulator/memory/clocks.hpp"
#include "emulator/memory/tensor_map.hpp"
#include "emulator/program.hpp"

namespace fatune::emulate {

/// Lanes of a warp that are at the same instruction.
struct Group {
  enum class State : std::uint8_t {
    runnable,
    gathering,  ///< waits for other lanes to reach the same instruction
    at_barrier,
    polling,  ///< waits for another warp or a copy
  };
  std::int32_t pc = 0;
  Mask mask = 0;
  State state = State::runnable;
  std::uint32_t barrier = 0;
  bool gives_up = false;  ///< stops polling: nothing else can continue
  bool spins = false;     ///< its last turn ended with a poll of `spins_at` in vain
  std::uint64_t spins_at = 0;
};

/// A cp.async that has not been waited for.
struct AsyncCopy {
  std::uint64_t source = 0;
  std::uint32_t destination = 0;
  std::uint32_t instruction = 0;
  std::uint32_t group = 0;  ///< number of groups that the lane had committed before
  std::uint8_t lane = 0;
  std::uint8_t bytes = 0;
  std::uint8_t source_bytes = 0;  ///< the rest is filled with zeros
  std::uint32_t order = 0;        ///< index among the warp's copies and arrivals
  bool landed = false;
};

/// A cp.async.bulk, with or without a tensor map, that has not been waited for.
struct BulkCopy {
  enum class Kind : std::uint8_t {
    load,   ///< global memory to shared memory of one or more blocks; completes on mbarriers
    store,  ///< shared memory to global memory; completes a bulk group
    move,   ///< shared memory to that of another block; completes on its mbarrier
  };
  struct Box {
    TensorMap map;
    Coordinates corner{};
  };

  Kind kind = Kind::load;
  std::uint32_t instruction = 0;
  std::size_t warp = 0;  ///< index into Execution::warps
  int lane = 0;
  std::uint64_t global = 0;  ///< the address of a copy without a box
  std::uint32_t shared = 0;  ///< shared::cta address; of a move: of its source
  std::uint32_t bytes = 0;   ///< what each block receives
  std::optional<Box> box{};
  std::uint32_t blocks = 0;       ///< load, move: bit r selects the block of rank r
  std::uint32_t destination = 0;  ///< move: address in that block
  std::uint32_t mbarrier = 0;     ///< load, move: offset in those blocks' shared memory
  std::uint32_t group = 0;        ///< store: number of groups that the thread had committed before
  bool landed = false;            ///< the copy has happened; a store must still be waited for

  [[nodiscard]] bool goes_to(std::uint64_t rank) const {
    return rank < 32 && (blocks >> rank & 1U) != 0;
  }
};

/// The properties of a wgmma.mma_async that must be the same in all four warps of a warpgroup.
struct IssuedProduct {
  std::uint32_t instruction = 0;
  std::uint64_t a = 0;  ///< descriptors; 0 if A is in registers
  std::uint64_t b = 0;
  bool accumulates = false;

  friend bool operator==(const IssuedProduct&, const IssuedProduct&) = default;
};

/// A wgmma.mma_async that has not been waited for.
struct AsyncProduct : IssuedProduct {
  std::uint32_t group = 0;   ///< number of groups that the warp had committed before
  std::uint32_t number = 0;  ///< index among the warp's products, from 0
  bool landed = false;
  bool has_read = false;  ///< some thread has waited for it
};

/// A cp.async.mbarrier.arrive: it arrives when the lane's earlier copies have landed.
struct AsyncArrival {
  std::uint32_t instruction = 0;
  std::uint32_t mbarrier = 0;  ///< offset in the block's shared memory
  std::uint32_t order = 0;
  std::uint8_t lane = 0;
};

/// The last copies of a lane that have landed for threads that wait for an mbarrier. The lane
/// itself may wait for their group instead.
struct TrackedCopies {
  Epoch as;
  std::uint32_t group = 0;
  std::uint8_t lane = 0;
};

/// A digest of a strong read: its instruction, its lanes, the values read and their addresses.
class PollDigest {
 public:
  PollDigest(std::size_t instruction, Mask lanes) {
    add(instruction);
    add(lanes);
  }
  void add(std::uint64_t word) {
    constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15U;
    value_ = (value_ ^ word) * kMultiplier;
    value_ ^= value_ >> 32U;
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 1;
};

/// Digests of the results of a warp's last strong reads, to notice loops that read memory until it
/// changes.
class RecentPolls {
 public:
  /// Records a read. Returns true if a recent one had the same digest. `address` is that of one of
  /// the read's lanes.
  bool met_again(const PollDigest& digest, std::uint64_t address) {
    last_address_ = address;
    if (is_among(digest.value(), digests_)) {
      return true;
    }
    digests_[next_++ % digests_.size()] = digest.value();
    return false;
  }
  [[nodiscard]] std::uint64_t last_address() const { return last_address_; }

 private:
  std::array<std::uint64_t, 8> digests_{};
  std::size_t next_ = 0;
  std::uint64_t last_address_ = 0;
};

struct Warp {
  int index = 0;          ///< the warp's place in its block
  std::size_t block = 0;  ///< the block's rank in its cluster
  Agent agent = 0;
  Mask alive = 0;  ///< lanes that have not ended; the block's last warp may have fewer than 32
  LaneStorage registers;
  std::vector<Mask> predicates;
  std::vector<Group> groups;
  Knowledge clock;
  FenceState fences;
  std::vector<AsyncCopy> copies;
  std::vector<AsyncArrival> arrivals;
  std::vector<TrackedCopies> tracked;
  std::uint32_t async_order = 0;
  std::vector<AsyncProduct> products;
  std::uint32_t products_issued = 0;
  std::uint32_t products_committed = 0;
  std::uint32_t registers_of_thread = 0;               ///< registers per thread: setmaxnreg
  std::vector<std::uint8_t> watched;                   ///< state of each register that products use
  Mask at_cluster_barrier = 0;                         ///< lanes that arrived and have not waited
  Mask cluster_arrived = 0;                            ///< lanes that arrived in the current phase
  std::array<std::uint32_t, kLanes> committed{};       ///< cp.async groups, by lane
  std::array<std::uint32_t, kLanes> bulk_committed{};  ///< bulk groups, by lane
  std::vector<std::uint8_t> local;                     ///< lane after lane
  RecentPolls polls;

  /// Begins a new epoch after a synchronisation: others have not seen what comes after it.
  void advance() { clock.seen.set(agent, clock.seen.of(agent) + 1); }
};

/// The lanes for which a condition holds: see Decoder::condition.
inline Mask condition_of(const Warp& warp, const Operand& condition) {
  const Mask holds = condition.constant ? (condition.offset != 0 ? kAllLanes : Mask{0})
                                        : warp.predicates[condition.offset];
  return condition.negated ? ~holds : holds;
}

/// Sets a predicate for the lanes of `mask`, unless it is discarded.
inline void set_mask(Warp& warp, const Operand& to, Mask value, Mask mask) {
  if (to.offset != kNowhere) {
    Mask& bits = warp.predicates[to.offset];
    bits = (bits & ~mask) | (value & mask);
  }
}

}  // namespace fatune::emulate
