#pragma once

#include <optional>
#include <string>

#include "app/option_groups.hpp"
#include "core/exit_code.hpp"

namespace fatune {

struct VerifyWinnerOptions : MeasureOptions {
  /// A stored run, a file, or a GPU that fatune ships winners of; absent: the GPU of this machine.
  std::optional<std::string> input;
  std::optional<double> tolerance_percent;  ///< absent: kTolerancePercent
};

/// Checks whether the winners of a best_configs.json are still the fastest on this machine: sweeps
/// the file's problems, and races its winners against the sweep's.
[[nodiscard]] ExitCode verify_winner(const VerifyWinnerOptions& options);

}  // namespace fatune
