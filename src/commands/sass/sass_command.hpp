#pragma once

#include "commands/sass/code_options.hpp"
#include "core/exit_code.hpp"

namespace fatune {

struct SassOptions : CodeOptions {
  bool opcodes = false;
  bool listing = false;  ///< a comparison shows the code and not the counts
  bool svg = false;      ///< a graph is drawn
};

/// Analyses a kernel's machine code.
[[nodiscard]] ExitCode sass(const SassOptions& options);
[[nodiscard]] ExitCode sass_diff(const SassOptions& options);
[[nodiscard]] ExitCode sass_graph(const SassOptions& options);
[[nodiscard]] ExitCode sass_clean(const SassOptions& options);

}  // namespace fatune
