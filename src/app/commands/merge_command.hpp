#pragma once

#include <filesystem>
#include <vector>

#include "app/option_groups.hpp"
#include "core/exit_code.hpp"

namespace fatune {

struct MergeOptions {
  std::filesystem::path target;
  std::vector<std::filesystem::path> stores;
  bool grouped = false;  ///< runs of several GPU models, drivers or policies
  OutputOptions output;
};

/// Joins stores in the target: all of them, or none.
[[nodiscard]] ExitCode merge(const MergeOptions& options);

}  // namespace fatune
