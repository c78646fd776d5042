#pragma once

#include <filesystem>
#include <optional>

#include "app/option_groups.hpp"
#include "core/exit_code.hpp"

namespace fatune {

struct HistoryOptions {
  std::optional<std::filesystem::path> db_file;
  OutputOptions output;
};

/// Lists the stored runs.
[[nodiscard]] ExitCode history(const HistoryOptions& options);

}  // namespace fatune
