#pragma once

#include <cstddef>
#include <vector>

#include "emulator/ptx/parse_ptx.hpp"

namespace fatune {

struct InlinedFunction {
  PtxFunction function;
  /// For each statement, the index of the statement of the original function that it is, or is part
  /// of.
  std::vector<std::size_t> statements;
};

/// Replaces calls in a function by the statements of the called functions, to any depth. A call
/// stays if it is recursive, is of a function that the module does not define, goes through a
/// pointer, or passes registers. Throws Error(bad_file) if the result would be too long.
[[nodiscard]] InlinedFunction inline_calls(const PtxModule& module, const PtxFunction& function);

}  // namespace fatune
