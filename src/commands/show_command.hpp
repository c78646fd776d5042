#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "app/option_groups.hpp"
#include "core/exit_code.hpp"

namespace fatune {

struct ShowOptions {
  std::optional<std::filesystem::path> db_file;
  std::string input;  ///< a stored run, or a file that a run has written: see load_runs()
  bool plot = false;  ///< print the main figures too
  OutputOptions output;
};

/// Prints a stored run, or the runs of a file, as their command printed them.
[[nodiscard]] ExitCode show(const ShowOptions& options);

}  // namespace fatune
