#pragma once

#include <cstddef>
#include <vector>

#include "ptx/module.hpp"

namespace fatune {

/// A statement, and how many steps it is away from what was selected (0).
struct SliceStep {
  std::size_t statement = 0;  ///< index into the function's
  int depth = 0;
};

/// The selected statements and those that feed them through registers, at most `depth` steps away
/// (0: however many), in the order of lines. A write feeds a read when a path leads from it there
/// without another write that always happens; whether the path can be taken is not known. Memory
/// is not followed, nor what decides a branch.
[[nodiscard]] std::vector<SliceStep> feeding_statements(const PtxFunction& function,
                                                        const std::vector<std::size_t>& selected,
                                                        int depth);

}  // namespace fatune
