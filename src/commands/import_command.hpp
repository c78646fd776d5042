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
  std::optional<ExportFormat> from;  ///< absent: detected for each file
  KernelOptions kernels;             ///< families that another program's settings may belong to
  // Facts that another program's file lacks.
  ProblemOptions problems;
  std::optional<Arch> arch;
  std::optional<std::string> gpu;
  std::optional<std::filesystem::path> db_file;
  OutputOptions output;
};

/// Stores the results in files of auto-tuners as runs: either all of them or none.
[[nodiscard]] ExitCode import_results(const ImportOptions& options);

}  // namespace fatune
