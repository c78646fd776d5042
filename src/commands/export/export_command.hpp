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
  CompileSettings compile;  ///< how a library's kernels are compiled
  ExportFormat to = ExportFormat::json;
  /// The file of the JSON table, the folder of a library, or the name (or the beginning of the
  /// names) of files for other auto-tuners.
  std::optional<std::filesystem::path> out_file;
  std::optional<double> cover_percent;  ///< restricts the table to the smallest cover within this
};

/// Exports tuned problems as one table for loaders of other programs or as a library of their
/// kernels, and prints how good choices from it are. Other formats are files of other auto-tuners.
[[nodiscard]] ExitCode export_tuned(const ExportOptions& options);

}  // namespace fatune
