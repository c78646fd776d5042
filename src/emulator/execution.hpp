#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include "emulator/async/mbarriers.hpp"
#include "emulator/async/warpgroup_checks.hpp"
#include "emulator/launch.hpp"
#include "emulator/memory/clocks.hpp"
#include "emulator/memory/global_memory.hpp"
#include "emulator/memory/shared_memory.hpp"
#include "emulator/program.hpp"
#include "emulator/warp.hpp"

namespace fatune::emulate {

/// The arrivals at a CTA barrier in its current phase.
struct Barrier {
  std::uint32_t arrived = 0;   ///< threads
  std::uint32_t expected = 0;  ///< threads; 0: all live threads of the block
  std::uint32_t yes = 0;       ///< threads that arrived with a true predicate (bar.red)
  Knowledge joined;
};

inline constexpr std::size_t kBarriers = 16;

/// The result that bar.red computes of the predicates that threads bring to a barrier.
enum class BarrierVote : std::uint8_t { none, count, all, any };

/// The details of a barrier instruction. Its operands are the barrier, the number of threads if
/// given, and for a vote the predicate and the result.
struct BarrierShape {
  bool counted = false;
  BarrierVote vote = BarrierVote::none;
};

/// The barrier of all threads of a cluster.
struct ClusterBarrier {
  Knowledge joined;
  Knowledge completed;  ///< the knowledge that waiting warps gain
};

/// One block of a cluster as it runs.
struct Block {
  std::uint32_t index;  ///< the block's linear place in the grid
  std::uint32_t rank;   ///< the block's rank in the cluster
  SharedMemory shared;
  Mbarriers mbarriers = {};
  std::array<Barrier, kBarriers> barriers = {};
  std::uint32_t free_registers = 0;  ///< that warps have given up and may request (setmaxnreg)
  std::vector<WarpgroupTrace> warpgroups = {};  ///< the warpgroups that have issued products
};

/// The number of clusters in the grid. Precondition: its extents are multiples of the cluster's.
[[nodiscard]] std::uint32_t cluster_count(const LaunchSetup& setup);
/// The linear index in the grid of a cluster's block.
[[nodiscard]] std::uint32_t block_at(const LaunchSetup& setup, std::uint32_t cluster,
                                     std::uint32_t rank = 0);

/// A launch, with the state that its clusters share.
struct LaunchState {
  const Program& program;
  GlobalMemory& global;
  const LaunchSetup& setup;
  LaunchResult& result;
  GlobalShadow shadow{};
  GlobalLocations locations{};
  /// Counts events that may let a polling thread continue: writes, and any other progress.
  std::uint64_t changes = 0;
  std::uint64_t executed = 0;  ///< warp instructions
  std::size_t text_bytes = 0;  ///< read by printf
};

/// The state of a running cluster (of one block if there are no clusters). Handlers work on it.
class Execution {
 public:
  Execution(LaunchState& launch, std::uint32_t cluster);

  const Program& program;
  GlobalMemory& global;
  const LaunchSetup& setup;
  LaunchResult& result;
  LaunchState& launch;
  std::uint32_t cluster;      ///< the cluster's linear place in the grid
  std::vector<Block> blocks;  ///< ordered by rank
  std::vector<Warp> warps;  ///< the warps of all blocks, block after block; the index is the agent
  ClusterBarrier cluster_barrier;
  std::deque<BulkCopy> bulk;
  StrongLocations strong_locations;
  std::uint64_t clock_reads = 0;  ///< reads of %clock and similar registers
  std::mt19937_64 random;
  /// Counts events that waiting threads may wait for. Polling again is in vain without a new one.
  std::uint64_t progress = 0;
  Agent agents = 0;  ///< the number of agents
  bool trapped = false;
  bool has_spun = false;   ///< some group has spun
  bool turn_ends = false;  ///< the current warp has trapped or polled in vain

  void note_progress() {
    ++progress;
    ++launch.changes;
  }
  void end_by_trap() { trapped = turn_ends = true; }
  /// Ends the launch because it needs more of `what` than LaunchSetup::limits has.
  void end_at_limit(std::string_view what, std::uint64_t limit);

  [[nodiscard]] std::size_t index_of(const Instruction& instruction) const {
    return static_cast<std::size_t>(&instruction - program.instructions.data());
  }
  /// The agent that reads the operands of a warp's products. It differs from the warp's own agent:
  /// waiting for a product reveals the product's reads, and nothing else that the warp did.
  [[nodiscard]] Agent multiplier(const Warp& warp) const {
    return static_cast<Agent>(warps.size()) + warp.agent;
  }
  /// Precondition: the agent is not an mbarrier.
  [[nodiscard]] const Warp& warp_of(Agent agent) const { return warps[agent % warps.size()]; }
  [[nodiscard]] Block& block_of(const Warp& warp) { return blocks[warp.block]; }
  [[nodiscard]] std::span<Warp> warps_of(const Block& block) {
    const std::size_t count = warps.size() / blocks.size();
    return std::span(warps).subspan(block.rank * count, count);
  }

  /// The memory of registers and local variables.
  [[nodiscard]] std::uint64_t thread_bytes() const {
    return warps.size() * (program.register_bytes + std::uint64_t{program.local_bytes} * kLanes);
  }
  [[nodiscard]] std::uint32_t threads_alive(const Block& block);
  [[nodiscard]] bool any_alive() const;
  /// The number of threads that have arrived at the cluster barrier in its current phase.
  [[nodiscard]] std::uint32_t arrived_at_cluster() const;
  /// Completes the cluster barrier if all live threads have arrived.
  void complete_cluster_barrier();
};

/// An instruction that a warp executes. Operands are given by their index.
struct Executing {
  Execution& x;
  Warp& warp;
  const Instruction& instruction;

  [[nodiscard]] const Operand& operand(std::size_t index) const {
    return instruction.operands[index];
  }
  /// The 32 lanes of an operand.
  template <typename Lane>
  [[nodiscard]] Lane* lanes(std::size_t index) const {
    const Operand& at = operand(index);
    return (at.constant ? x.program.constants : warp.registers).at<Lane>(at.offset);
  }
  [[nodiscard]] std::uint32_t* words(std::size_t index) const {
    return lanes<std::uint32_t>(index);
  }
  [[nodiscard]] std::uint64_t* wide_words(std::size_t index) const {
    return lanes<std::uint64_t>(index);
  }
  /// A lane's value of an operand of 64 bits if it is `wide`, else of 32 bits.
  [[nodiscard]] std::uint64_t value(std::size_t index, int lane, bool wide) const {
    return wide ? wide_words(index)[lane] : words(index)[lane];
  }
  void set_value(std::size_t index, int lane, bool wide, std::uint64_t value) const {
    if (wide) {
      wide_words(index)[lane] = value;
    } else {
      words(index)[lane] = static_cast<std::uint32_t>(value);
    }
  }
  /// A lane's address: the sum of the operand and the next one, which is the offset.
  [[nodiscard]] std::uint64_t address(std::size_t index, int lane) const {
    return value(index, lane, operand(index).wide) + wide_words(index + 1)[lane];
  }
  [[nodiscard]] Mask condition(std::size_t index) const {
    return condition_of(warp, operand(index));
  }
  void set_predicate(std::size_t index, Mask value, Mask mask) const {
    set_mask(warp, operand(index), value, mask);
  }

  [[nodiscard]] Block& block() const { return x.block_of(warp); }
  [[nodiscard]] std::size_t index() const { return x.index_of(instruction); }
  [[nodiscard]] InstructionCounts& counts() const { return x.result.counts[index()]; }

  /// Records a mistake. Calls `describe` only for the first one of this kind at the instruction; it
  /// returns FindingWords or their text.
  template <typename Describe>
  void report(FindingKind kind, int lane, Describe describe) const {
    if (!x.result.findings.count_again(kind, index())) {
      x.result.findings.add({{describe()},
                             kind,
                             index(),
                             block().index,
                             static_cast<std::uint32_t>(warp.index * kLanes + lane),
                             1});
    }
  }
};

/// The number of registers that the block must give to all threads of the warp for setmaxnreg.
[[nodiscard]] inline std::uint32_t missing_registers(const Executing& at) {
  const std::uint32_t wanted = at.instruction.variant;
  const std::uint32_t own = at.warp.registers_of_thread;
  return wanted > own ? (wanted - own) * kLanes : 0;
}

/// A lane of a warp that executes an instruction.
struct Actor : Executing {
  int lane = 0;

  /// The lane's value of an operand.
  [[nodiscard]] std::uint32_t word(std::size_t index) const { return words(index)[lane]; }
  [[nodiscard]] std::uint64_t wide_word(std::size_t index) const { return wide_words(index)[lane]; }
  [[nodiscard]] std::uint64_t address(std::size_t index) const {
    return Executing::address(index, lane);
  }
  [[nodiscard]] Accessor accessor() const {
    return {warp.agent, lane, &warp.clock.seen, &instruction, instruction.all_members};
  }
  template <typename Describe>
  void report(FindingKind kind, Describe describe) const {
    Executing::report(kind, lane, describe);
  }
};

/// The lanes of a warp that execute an instruction.
struct Step : Executing {
  Mask mask = 0;

  [[nodiscard]] Actor by(int lane) const { return {*this, lane}; }
  /// The lowest lane.
  [[nodiscard]] int first() const { return std::countr_zero(mask); }
  /// Calls `work(lane)` for each lane, in ascending order.
  template <typename Work>
  void for_each(Work work) const {
    for_each_lane(mask, work);
  }
  /// The handler that calls kWork for each lane.
  template <void (*kWork)(const Actor&)>
  static void each(const Step& step) {
    for_each_lane(step.mask, [&](int lane) { kWork(step.by(lane)); });
  }
  /// Records a strong read that has changed nothing. Ends the warp's turn if it repeats a recent
  /// one, so that other warps, of this block or another one, can change what it reads.
  void note_poll(const PollDigest& digest, std::uint64_t address) const {
    x.turn_ends = warp.polls.met_again(digest, address) || x.turn_ends;
  }
};

}  // namespace fatune::emulate
