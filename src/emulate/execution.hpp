#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include "emulate/async/bulk_copy.hpp"
#include "emulate/async/mbarriers.hpp"
#include "emulate/async/warpgroup_trace.hpp"
#include "emulate/launch.hpp"
#include "emulate/memory/global_shadow.hpp"
#include "emulate/memory/memory_order.hpp"
#include "emulate/memory/shared_memory.hpp"
#include "emulate/program.hpp"
#include "emulate/schedule/register_pool.hpp"
#include "emulate/warp.hpp"

namespace fatune::emulate {

/// The arrivals at a CTA barrier in its current phase.
struct Barrier {
  std::uint32_t arrived = 0;   ///< threads
  std::uint32_t expected = 0;  ///< threads; 0: all live threads of the block
  std::uint32_t yes = 0;       ///< threads that arrived with a true predicate (bar.red)
  std::int32_t instruction = -1;
  Knowledge joined;
};

inline constexpr std::size_t kBarriers = 16;

/// The barrier of all threads of a cluster.
struct ClusterBarrier {
  Knowledge joined;
  Knowledge completed;  ///< the knowledge that waiting warps gain
};

/// One block of a cluster as it runs.
struct Block {
  Block(std::uint32_t linear_index, std::uint32_t cluster_rank, std::uint32_t threads,
        std::size_t shared_bytes, std::size_t agents)
      : index(linear_index), rank(cluster_rank), shared(shared_bytes, agents), registers(threads) {}

  std::uint32_t index;  ///< the block's linear place in the grid
  std::uint32_t rank;   ///< the block's rank in the cluster
  SharedMemory shared;
  Mbarriers mbarriers;
  std::array<Barrier, kBarriers> barriers;
  RegisterPool registers;
  std::vector<WarpgroupTrace> warpgroups;  ///< the warpgroups that have issued products
};

/// The number of clusters in the grid. Precondition: its extents are multiples of the cluster's.
[[nodiscard]] std::uint32_t cluster_count(const LaunchSetup& setup);
/// The linear index in the grid of a cluster's block.
[[nodiscard]] std::uint32_t block_at(const LaunchSetup& setup, std::uint32_t cluster,
                                     std::uint32_t rank);
/// The linear index in the grid of a cluster's first block.
[[nodiscard]] std::uint32_t first_block(const LaunchSetup& setup, std::uint32_t cluster);

/// The state that the clusters of a launch share.
struct LaunchState {
  GlobalShadow shadow;
  GlobalLocations locations;
  /// Counts events that may let a polling thread continue: writes, and any other progress.
  std::uint64_t changes = 0;
  std::uint64_t executed = 0;  ///< warp instructions
  std::size_t text_bytes = 0;  ///< read by printf
};

/// The state of a running cluster (of one block if there are no clusters). Handlers work on it.
class Execution {
 public:
  Execution(const Program& program, GlobalMemory& global, const LaunchSetup& setup,
            LaunchResult& result, LaunchState& launch, std::uint32_t cluster);

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

  /// The 32 lanes of an operand.
  template <typename Lane>
  [[nodiscard]] Lane* lanes(const Warp& warp, const Operand& operand) const {
    return (operand.constant ? program.constants : warp.registers).at<Lane>(operand.offset);
  }

  [[nodiscard]] std::uint32_t word(const Warp& warp, const Operand& operand, int lane) const {
    return lanes<std::uint32_t>(warp, operand)[lane];
  }

  /// A lane's address: the sum of the operand and the next one, which is the offset.
  [[nodiscard]] std::uint64_t address(const Warp& warp, const Operand* operand, int lane) const {
    const std::uint64_t base = operand->wide ? lanes<std::uint64_t>(warp, *operand)[lane]
                                             : lanes<std::uint32_t>(warp, *operand)[lane];
    return base + lanes<std::uint64_t>(warp, operand[1])[lane];
  }

  [[nodiscard]] std::size_t index_of(const Instruction& instruction) const {
    return static_cast<std::size_t>(&instruction - program.instructions.data());
  }
  [[nodiscard]] InstructionCounts& counts(const Instruction& instruction) {
    return result.counts[index_of(instruction)];
  }
  [[nodiscard]] Accessor accessor(const Warp& warp, int lane,
                                  const Instruction& instruction) const {
    return {warp.agent, lane, &warp.clock.seen, &instruction, instruction.all_members};
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

  /// Records a mistake. Calls `describe` only for the first one of this kind at the instruction; it
  /// returns FindingWords or their text.
  template <typename Describe>
  void report(FindingKind kind, const Warp& warp, const Instruction& instruction, int lane,
              Describe describe) {
    if (!result.findings.count_again(kind, index_of(instruction))) {
      result.findings.add({{describe()},
                           kind,
                           index_of(instruction),
                           blocks[warp.block].index,
                           static_cast<std::uint32_t>(warp.index * kLanes + lane),
                           1});
    }
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

/// A lane of a warp that executes an instruction.
struct Actor {
  Execution& x;
  Warp& warp;
  const Instruction& instruction;
  int lane = 0;

  /// The lane's value of an operand, which is given by its index.
  [[nodiscard]] std::uint32_t word(std::size_t operand) const {
    return x.word(warp, instruction.operands[operand], lane);
  }
  [[nodiscard]] std::uint64_t wide_word(std::size_t operand) const {
    return x.lanes<std::uint64_t>(warp, instruction.operands[operand])[lane];
  }
  [[nodiscard]] std::uint64_t address(std::size_t operand) const {
    return x.address(warp, instruction.operands + operand, lane);
  }
  [[nodiscard]] Accessor accessor() const { return x.accessor(warp, lane, instruction); }

  template <typename Describe>
  void report(FindingKind kind, Describe describe) const {
    x.report(kind, warp, instruction, lane, describe);
  }
};

/// Calls `work(actor)` for the lanes of a mask, in ascending order.
template <typename Work>
void for_each_actor(Execution& x, Warp& warp, const Instruction& instruction, Mask mask,
                    Work work) {
  for_each_lane(mask, [&](int lane) { work(Actor{x, warp, instruction, lane}); });
}

}  // namespace fatune::emulate
