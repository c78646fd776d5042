#pragma once

#include <filesystem>
#include <vector>

#include "app/option_groups.hpp"
#include "core/exit_code.hpp"

namespace fatune {

struct CacheExportOptions {
  std::filesystem::path file;
  CompileSettings compile;
  OutputOptions output;
};
struct CacheImportOptions {
  std::vector<std::filesystem::path> files;
  CompileSettings compile;
  OutputOptions output;
};

/// Writes the compiled kernels of the cache to one file.
[[nodiscard]] ExitCode cache_export(const CacheExportOptions& options);

/// Adds the compiled kernels of such files to the cache. Returns ExitCode::bad_file if some were
/// damaged.
[[nodiscard]] ExitCode cache_import(const CacheImportOptions& options);

}  // namespace fatune
