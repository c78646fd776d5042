#pragma once

#include "commands/export/export_command.hpp"

namespace fatune {

/// Writes what the options name as files of another auto-tuner, one for each kernel family and
/// problem of a run, and prints a list of them. A single file has the name that the options give.
/// Throws Error(usage) without a name, and with a cover.
[[nodiscard]] ExitCode export_files(const ExportOptions& options);

}  // namespace fatune
