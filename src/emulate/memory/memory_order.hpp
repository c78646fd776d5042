#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "emulate/memory/clocks.hpp"

// The knowledge that strong accesses hand over: PTX ISA 9.0, chapter 8 (memory consistency model).
namespace fatune::emulate {

class Execution;
struct Warp;
struct Access;

/// The memory order of a strong access: ld, st, atom and red with .relaxed, .acquire, .release,
/// .volatile, .mmio.
struct MemoryOrder {
  bool acquires = false;
  bool releases = false;
};

/// A location that strong accesses use.
struct StrongLocation {
  VectorClock accessed;       ///< by strong accesses, until then: those do not race with each other
  Knowledge released;         ///< what a thread that acquires here comes to know
  std::uint32_t cluster = 0;  ///< whose agents these are
};

/// Strong locations of shared memory, by block and address.
using StrongLocations = std::map<std::pair<std::size_t, std::uint64_t>, StrongLocation>;
/// Strong locations of global memory, by address.
using GlobalLocations = std::map<std::uint64_t, StrongLocation>;

/// The effect of a warp's fences on its relaxed accesses.
struct FenceState {
  Knowledge released;  ///< what it knew at its last fence: its later writes hand that over
  Knowledge acquired;  ///< what its reads have met: its next fence takes that in
};

/// While it lives, the warp's accesses to a location are strong ones.
class StrongAccess {
 public:
  StrongAccess(Execution& x, Warp& warp, const Access& access, MemoryOrder order);
  ~StrongAccess();
  StrongAccess(const StrongAccess&) = delete;
  StrongAccess& operator=(const StrongAccess&) = delete;

  /// The access reads what others have written, or is a write that they may read.
  void reads();
  void writes();

 private:
  Warp& warp_;
  StrongLocation* location_ = nullptr;  ///< null: races are not looked for
  MemoryOrder order_;
  VectorClock known_;      ///< without what strong accesses have done here
  std::uint32_t own_ = 0;  ///< the warp's clock
};

/// fence.acq_rel, fence.sc, membar.
void order_by_fence(Warp& warp);

}  // namespace fatune::emulate
