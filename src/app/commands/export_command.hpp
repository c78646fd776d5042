#pragma once

#include <filesystem>
#include <optional>

#include "app/option_groups.hpp"
#include "core/exit_code.hpp"
#include "core/export_format.hpp"

namespace fatune {

struct ExportOptions {
  TunedOptions tuned;
  KernelOptions kernels;
  OutputOptions output;
  CompileSettings compile;  ///< of a library's kernels
  ExportFormat to = ExportFormat::json;
  /// Of the table, as JSON; of files for other auto-tuners: the name, or what their names begin
  /// with; of a library: its folder.
  std::optional<std::filesystem::path> out_file;
  std::optional<double> cover_percent;  ///< the table has the smallest set that is within it
};

/// Tuned problems as one table for loaders of other programs, or as a library of their kernels, and
/// how good choices from it are; or as files of other auto-tuners.
[[nodiscard]] ExitCode export_tuned(const ExportOptions& options);

}  // namespace fatune
