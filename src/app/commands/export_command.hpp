#pragma once

#include <filesystem>
#include <optional>

#include "app/option_groups.hpp"
#include "core/exit_code.hpp"

namespace fatune {

struct ExportOptions {
  TunedOptions tuned;
  KernelOptions kernels;
  OutputOptions output;
  std::optional<std::filesystem::path> out_file;  ///< of the table, as JSON
  std::optional<double> cover_percent;  ///< the table has the smallest set that is within it
};

/// Tuned problems as one table for loaders of other programs, and how good choices from it are.
[[nodiscard]] ExitCode export_tuned(const ExportOptions& options);

}  // namespace fatune
