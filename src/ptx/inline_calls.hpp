#pragma once

#include <cstddef>
#include <vector>

#include "ptx/module.hpp"

namespace fatune {

struct InlinedFunction {
  PtxFunction function;
  /// By statement: index of the one in the original function that it is, or is part of.
  std::vector<std::size_t> statements;
};

/// A function with the statements of those that it calls in place of the calls, as deep as they
/// go. A call stays where it is recursive, of a function that the module does not define, through a
/// pointer, or one that passes registers. Error(bad_file): the result would be too long.
[[nodiscard]] InlinedFunction inline_calls(const PtxModule& module, const PtxFunction& function);

}  // namespace fatune
