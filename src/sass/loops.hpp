#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sass/control_flow.hpp"

namespace fatune {

/// A natural loop: a header that dominates all of it, and every path back to the header.
struct Loop {
  std::size_t header = 0;             ///< block
  std::vector<std::size_t> blocks;    ///< ascending, inner loops' included
  std::vector<std::size_t> latches;   ///< blocks that jump back to the header
  std::optional<std::size_t> parent;  ///< index of the loop around it
  int depth = 1;                      ///< 1: not within another loop
};

struct LoopForest {
  std::vector<Loop> loops;                            ///< by address of the header
  std::vector<std::optional<std::size_t>> innermost;  ///< of each block
  /// Edges that go back to a block which does not dominate them: cycles of several entries, which
  /// are no natural loops.
  std::size_t irreducible_edges = 0;
};

/// Error(bad_file) for more loops than any kernel has.
[[nodiscard]] LoopForest find_loops(const ControlFlow& flow);

/// The loop that the kernel spends its time in, as far as the code tells: the one with the most
/// tensor instructions that are in no loop within it, the innermost of equals (a persistent kernel
/// has the first step of each tile in the loop around); without any, the one with the most
/// instructions. Nothing without loops.
[[nodiscard]] std::optional<std::size_t> main_loop(const SassFunction& function,
                                                   const ControlFlow& flow,
                                                   const LoopForest& forest);

/// The loop in which a producer warp brings the steps' data: of the loops with bulk copies to
/// shared memory that have no other such loop within them, the one with the most, the first of
/// equals. Nothing without such a loop, and when it is `main`, or around it. A loop that a warp
/// goes round once for each value of a register that must be uniform counts as straight code.
[[nodiscard]] std::optional<std::size_t> producer_loop(const SassFunction& function,
                                                       const ControlFlow& flow,
                                                       const LoopForest& forest,
                                                       std::optional<std::size_t> main);
/// Copies to shared memory that one instruction of the loop starts, those within it included.
[[nodiscard]] std::size_t count_bulk_loads(const SassFunction& function, const ControlFlow& flow,
                                           const Loop& loop);

/// Whether an iteration cannot avoid the block.
[[nodiscard]] bool always_executed(const ControlFlow& flow, const Loop& loop, std::size_t block);

}  // namespace fatune
