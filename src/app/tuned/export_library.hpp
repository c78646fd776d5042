#pragma once

#include "app/commands/export_command.hpp"
#include "plan/family_set.hpp"
#include "tuned/export_report.hpp"

namespace fatune {

/// Error(usage) without a folder, or with one that has other files; Error(io) when nothing can be
/// written there.
void check_library_folder(const ExportOptions& options);

/// Compiles the kernels of the report's table, and writes the folder of a library, with its table
/// and what is known of it. Errors as build_library() and write_output_file().
void write_library(const ExportOptions& options, const FamilySet& families,
                   const ExportReport& report);

}  // namespace fatune
