#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/option_groups.hpp"
#include "core/exit_code.hpp"
#include "core/export_format.hpp"

namespace fatune {

struct ImportOptions {
  std::vector<std::filesystem::path> files;
  std::optional<ExportFormat> from;  ///< absent: as each file tells
  KernelOptions kernels;             ///< whose configurations another program's settings may be
  // What another program's file does not say.
  ProblemOptions problems;
  std::optional<Arch> arch;
  std::optional<std::string> gpu;
  std::optional<std::filesystem::path> db_file;
  OutputOptions output;
};

/// Stores the results in files of auto-tuners as runs: all of them, or none.
[[nodiscard]] ExitCode import_results(const ImportOptions& options);

}  // namespace fatune
