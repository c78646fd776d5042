#pragma once

#include "app/option_groups.hpp"
#include "core/exit_code.hpp"

namespace fatune {

struct ListOptions {
  KernelOptions kernels;
  ProblemOptions problems;   ///< one length; without it, rules that need a problem wait
  std::optional<Arch> arch;  ///< absent: as offline_target()
  OutputOptions output;
  bool with_dropped = false;
  bool presets = false;  ///< the presets of problems, in place of a space
};

/// Lists what a space keeps, or the presets of problems.
[[nodiscard]] ExitCode list(const ListOptions& options);

}  // namespace fatune
