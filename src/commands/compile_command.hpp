#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/option_groups.hpp"
#include "core/exit_code.hpp"

namespace fatune {

struct CompileOptions : OfflineOptions {
  std::vector<std::string> configs;  ///< instead of a space
  std::optional<std::filesystem::path> out_dir;
  bool ptx = false;
  bool strict = false;
};

/// Compiles configurations, runs nothing, and prints registers, spills, shared memory and files.
[[nodiscard]] ExitCode compile_offline(const CompileOptions& options);

}  // namespace fatune
