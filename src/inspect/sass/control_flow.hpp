#pragma once

#include <cstddef>
#include <optional>
#include <span>
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

}  // namespace fatune
