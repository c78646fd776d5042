#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "core/report.hpp"

namespace fatune {

/// Where a run's results go besides standard output; both may be absent.
struct ResultFiles {
  std::optional<std::filesystem::path> folder;     ///< results.json, results.csv, best_configs.json
  std::optional<std::filesystem::path> best_file;  ///< best_configs.json under another name

  [[nodiscard]] std::vector<std::filesystem::path> paths() const;
};

/// Writes all of them, each whole or not at all. Error(io) names the file.
void write_results(const ResultFiles& files, const RunReport& report);

/// Finds out before the work whether the results can be written after it: makes the folders and
/// a file in each. Error(io) as write_results.
void check_writable(const ResultFiles& files);

}  // namespace fatune
