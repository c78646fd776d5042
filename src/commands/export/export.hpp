#pragma once

#include <filesystem>
#include <optional>

#include "app/option_groups.hpp"
#include "core/error.hpp"
#include "core/output_format.hpp"
#include "plan/family.hpp"
#include "tuned/tuned_file.hpp"

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

/// Throws Error(usage) without a folder, or for one that has other files, and Error(io) if nothing
/// can be written there.
void check_library_folder(const ExportOptions& options);

/// Compiles the kernels of the report's table, and writes the folder of a library, with its table
/// and the report. Throws as build_library() and write_output_file().
void write_library(const ExportOptions& options, const FamilySet& families,
                   const ExportReport& report);

/// Writes what the options name as files of another auto-tuner, one for each kernel family and
/// problem of a run, and prints a list of them. A single file has the name that the options give.
/// Throws Error(usage) without a name, and with a cover.
[[nodiscard]] ExitCode export_files(const ExportOptions& options);

}  // namespace fatune
