#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "emulate/memory/clocks.hpp"

// The knowledge that strong accesses pass on: PTX ISA 9.0, chapter 8 (memory consistency model).
namespace fatune::emulate {

struct Access;
struct Step;
struct Warp;

/// The memory order of a strong access: ld, st, atom and red with .relaxed, .acquire, .release,
/// .volatile, .mmio.
struct MemoryOrder {
  bool acquires = false;
  bool releases = false;
};

/// A location that strong accesses use.
struct StrongLocation {
  VectorClock accessed;       ///< the strong accesses so far: they do not race with each other
  Knowledge released;         ///< what a thread learns by acquiring here
  std::uint32_t cluster = 0;  ///< the cluster of these agents
};

/// Strong locations of shared memory, by block and address.
using StrongLocations = std::map<std::pair<std::size_t, std::uint64_t>, StrongLocation>;
/// Strong locations of global memory, by address.
using GlobalLocations = std::map<std::uint64_t, StrongLocation>;

/// The effect of a warp's fences on its relaxed accesses.
struct FenceState {
  Knowledge released;  ///< what the warp knew at its last fence: its later writes pass it on
  Knowledge acquired;  ///< what its reads have found: its next fence acquires it
};

/// Makes the warp's accesses to a location strong during its lifetime.
class StrongAccess {
 public:
  StrongAccess(const Step& step, const Access& access, MemoryOrder order);
  ~StrongAccess();
  StrongAccess(const StrongAccess&) = delete;
  StrongAccess& operator=(const StrongAccess&) = delete;

  /// The access has read what others wrote, or has written what others may read.
  void reads();
  void writes();

 private:
  Warp& warp_;
  StrongLocation* location_ = nullptr;  ///< null: races are not checked
  MemoryOrder order_;
  VectorClock known_;      ///< excludes the strong accesses to this location
  std::uint32_t own_ = 0;  ///< the warp's clock
};

/// Executes fence.acq_rel, fence.sc or membar.
void order_by_fence(Warp& warp);

}  // namespace fatune::emulate
