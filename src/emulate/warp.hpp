#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulate/clocks.hpp"
#include "emulate/lane_storage.hpp"
#include "emulate/memory_order.hpp"
#include "emulate/program.hpp"

namespace fatune::emulate {

/// Lanes of a warp that are at the same instruction.
struct Group {
  enum class State : std::uint8_t {
    runnable,
    gathering,  ///< other lanes have to come to the same instruction
    at_barrier,
  };
  std::int32_t pc = 0;
  Mask mask = 0;
  State state = State::runnable;
  std::uint32_t barrier = 0;
};

/// A cp.async that has not been waited for.
struct AsyncCopy {
  std::uint64_t source = 0;
  std::uint32_t destination = 0;
  std::uint32_t instruction = 0;
  std::uint32_t group = 0;  ///< of the lane: how many it had committed before
  std::uint8_t lane = 0;
  std::uint8_t bytes = 0;
  std::uint8_t source_bytes = 0;  ///< the rest is zero
  bool landed = false;
};

struct Warp {
  int index = 0;          ///< in its block
  std::size_t block = 0;  ///< in its cluster
  Agent agent = 0;
  Mask alive = 0;    ///< lanes that have not ended
  Mask threads = 0;  ///< lanes that exist: fewer in the block's last warp
  LaneStorage registers;
  std::vector<Mask> predicates;
  std::vector<Group> groups;
  Knowledge clock;
  FenceState fences;
  std::vector<AsyncCopy> copies;
  std::array<std::uint32_t, kLanes> committed{};  ///< cp.async groups, by lane
  std::vector<std::uint8_t> local;                ///< lane after lane

  /// After a synchronisation: what comes now is later than what others have seen.
  void advance() { clock.seen.set(agent, clock.seen.of(agent) + 1); }
};

}  // namespace fatune::emulate
