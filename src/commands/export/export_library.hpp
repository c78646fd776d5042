#pragma once

#include "commands/export/export_command.hpp"
#include "plan/family_set.hpp"
#include "tuned/export_report.hpp"

namespace fatune {

/// Throws Error(usage) without a folder, or for one that has other files, and Error(io) if nothing
/// can be written there.
void check_library_folder(const ExportOptions& options);

/// Compiles the kernels of the report's table, and writes the folder of a library, with its table
/// and the report. Throws as build_library() and write_output_file().
void write_library(const ExportOptions& options, const FamilySet& families,
                   const ExportReport& report);

}  // namespace fatune
