#pragma once

#include <cstddef>
#include <vector>

#include "ptx/module.hpp"

namespace fatune {

/// A statement, and its distance in steps from the selected statements (0).
struct SliceStep {
  std::size_t statement = 0;  ///< index into the function's statements
  int depth = 0;
};

/// The selected statements and those that feed them through registers, at most `depth` steps away
/// (0: any number), in the order of lines. A write feeds a read if a path leads from the write to
/// the read without another write that always happens. Whether the path can be taken is not known.
/// Memory and the conditions of branches are not followed.
[[nodiscard]] std::vector<SliceStep> feeding_statements(const PtxFunction& function,
                                                        const std::vector<std::size_t>& selected,
                                                        int depth);

}  // namespace fatune
