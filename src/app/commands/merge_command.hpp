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
  bool grouped = false;  ///< runs of several GPU models, drivers or policies
  OutputOptions output;
};

/// Warns of what was left out, and prints what became of the stores.
void print_merged(const std::vector<MergedStore>& stores, const OutputOptions& output);

/// Joins stores in the target: all of them, or none.
[[nodiscard]] ExitCode merge(const MergeOptions& options);

}  // namespace fatune
