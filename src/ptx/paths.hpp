#pragma once

#include <cstddef>
#include <vector>

#include "ptx/module.hpp"

namespace fatune {

/// A basic block: entered only at its first statement, and left only after its last.
struct PtxBlock {
  std::size_t first = 0;  ///< index into the function's statements
  std::size_t end = 0;    ///< one past the last
  std::vector<std::size_t> predecessors;
};

struct PtxPaths {
  std::vector<PtxBlock> blocks;       ///< ordered by line
  std::vector<std::size_t> block_of;  ///< the block of each statement
};

/// Finds the basic blocks and the predecessors of each. A branch whose labels are not known (brx)
/// may go to every label.
[[nodiscard]] PtxPaths find_paths(const PtxFunction& function);

}  // namespace fatune
