#pragma once

#include "app/option_groups.hpp"
#include "core/exit_code.hpp"

namespace fatune {

struct ListOptions {
  KernelOptions kernels;
  ProblemOptions problems;   ///< one length; without it, rules that wait for a problem do
  std::optional<Arch> arch;  ///< absent: as offline_target()
  OutputOptions output;
  bool with_dropped = false;
  bool presets = false;  ///< the presets of problems, in place of a space
};

/// What a space keeps, or the presets of problems.
[[nodiscard]] ExitCode list(const ListOptions& options);

}  // namespace fatune
