#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "inspect/sass/listing.hpp"

namespace fatune {

/// A basic block: entered only at its first instruction, and left only after its last.
struct BasicBlock {
  std::size_t first = 0;  ///< index into the function's instructions
  std::size_t end = 0;    ///< one past the last
  std::vector<std::size_t> successors;
  std::vector<std::size_t> predecessors;
};

/// The control flow of one function. A call of a function continues after the call. A CALL of a
/// label within the function is a far branch, which ptxas sometimes writes. A jump whose targets
/// are not in the listing has no edge.
struct ControlFlow {
  std::vector<BasicBlock> blocks;  ///< ordered by address; the first is the entry
  /// The immediate dominator of each block; nothing for an entry.
  std::vector<std::optional<std::size_t>> dominators;
  std::vector<std::size_t> order;  ///< position of each block in reverse postorder

  [[nodiscard]] bool dominates(std::size_t a, std::size_t b) const;
};

/// Builds the control flow. Blocks without predecessors are entries too. Throws Error(bad_file) for
/// a function of more blocks than any kernel has. Precondition: the function has instructions.
[[nodiscard]] ControlFlow control_flow(const SassFunction& function);

/// The instructions of a block.
[[nodiscard]] inline std::span<const Instruction> instructions_of(const SassFunction& function,
                                                                  const BasicBlock& block) {
  return std::span(function.instructions).subspan(block.first, block.end - block.first);
}

/// A natural loop: a header that dominates all its blocks, and the blocks on all paths back to the
/// header.
struct Loop {
  std::size_t header = 0;             ///< block
  std::vector<std::size_t> blocks;    ///< ascending, inner loops' included
  std::vector<std::size_t> latches;   ///< blocks that jump back to the header
  std::optional<std::size_t> parent;  ///< index of the loop around it
  int depth = 1;                      ///< 1: not within another loop
};

struct LoopForest {
  std::vector<Loop> loops;                            ///< ordered by address of the header
  std::vector<std::optional<std::size_t>> innermost;  ///< each block's innermost loop
  /// The number of edges back to a block that does not dominate their source. They close cycles
  /// with several entries, which are not natural loops.
  std::size_t irreducible_edges = 0;
};

/// Throws Error(bad_file) for more loops than any kernel has.
[[nodiscard]] LoopForest find_loops(const ControlFlow& flow);

/// The loop that the kernel spends its time in, as far as the code tells: the one with the most
/// warpgroups' tensor instructions outside of its inner loops, else with the most warps'. Of equals
/// it is the innermost (a persistent kernel has the first step of each tile in the outer loop).
/// Without tensor instructions it is the one with the most instructions. Nothing without loops.
[[nodiscard]] std::optional<std::size_t> main_loop(const SassFunction& function,
                                                   const ControlFlow& flow,
                                                   const LoopForest& forest);

/// The loop in which a producer warp loads the steps' data. Of the loops with bulk copies to shared
/// memory that have no other such loop within them, it is the one with the most copies; of equals
/// the first. `main` and the loops around it are excluded. Nothing without such a loop. A loop that
/// a warp executes once for each value of a register that must be uniform counts as straight-line
/// code.
[[nodiscard]] std::optional<std::size_t> producer_loop(const SassFunction& function,
                                                       const ControlFlow& flow,
                                                       const LoopForest& forest,
                                                       std::optional<std::size_t> main);
/// The number of bulk copies to shared memory in the loop, loops within it included. One
/// instruction starts each.
[[nodiscard]] std::size_t count_bulk_loads(const SassFunction& function, const ControlFlow& flow,
                                           const Loop& loop);

/// True if every iteration executes the block.
[[nodiscard]] bool always_executed(const ControlFlow& flow, const Loop& loop, std::size_t block);

/// The place of an instruction with respect to the main loop.
enum class LoopPlace {
  outside,
  always,       ///< every iteration runs it
  conditional,  ///< an iteration may skip it
};
/// "", "loop", "conditional".
[[nodiscard]] inline std::string_view place_name(LoopPlace place) {
  return place == LoopPlace::always ? "loop" : place == LoopPlace::conditional ? "conditional" : "";
}

/// The place of each block. `loop`: null if there is no main loop.
[[nodiscard]] std::vector<LoopPlace> block_places(const ControlFlow& flow, const Loop* loop);

/// The place of each instruction. Precondition: the function has instructions.
[[nodiscard]] std::vector<LoopPlace> loop_places(const SassFunction& function);

}  // namespace fatune
