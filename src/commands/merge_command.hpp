#pragma once

#include <filesystem>
#include <vector>

#include "app/option_groups.hpp"
#include "core/exit_code.hpp"

namespace fatune {

struct MergedStore;

struct MergeOptions {
  std::filesystem::path target;
  std::vector<std::filesystem::path> stores;
  bool grouped = false;  ///< accept several GPU models, drivers or policies
  OutputOptions output;
};

/// Warns about damaged runs that were left out, and prints the result for each store.
void print_merged(const std::vector<MergedStore>& stores, const OutputOptions& output);

/// Merges the stores into the target: either all of them or none.
[[nodiscard]] ExitCode merge(const MergeOptions& options);

}  // namespace fatune
