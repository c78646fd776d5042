#pragma once

#include <filesystem>
#include <optional>

#include "app/option_groups.hpp"
#include "core/exit_code.hpp"

namespace fatune {

struct VerifyWinnerOptions : MeasureOptions {
  /// best_configs.json, or a GPU that fatune ships winners of; absent: the GPU of this machine
  std::optional<std::filesystem::path> file;
  double tolerance_percent = 0.5;  ///< how much slower than the fastest a winner is allowed to be
};

/// Checks whether the winners of a best_configs.json are still the fastest on this machine.
[[nodiscard]] ExitCode verify_winner(const VerifyWinnerOptions& options);

}  // namespace fatune
