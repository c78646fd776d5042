#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "app/option_groups.hpp"
#include "report/report.hpp"

namespace fatune {

/// The files of a run's results besides the ranking on standard output; all may be absent.
struct ResultFiles {
  std::optional<std::filesystem::path> folder;     ///< results.json, results.csv, best_configs.json
  std::optional<std::filesystem::path> best_file;  ///< best_configs.json under another name
  bool print_best = false;  ///< best_configs.json on standard output, in place of the ranking

  [[nodiscard]] std::vector<std::filesystem::path> paths() const;
};

/// A device or a FIFO takes the results once: at the end.
enum class Moment { meanwhile, at_the_end };

/// The files that the options name. Error(usage) when standard output would get two documents.
[[nodiscard]] ResultFiles result_files(const MeasureOptions& options);

/// Writes all of them, each whole or not at all. Error(io) names the file.
void write_results(const ResultFiles& files, const RunReport& report, Moment moment);

/// Finds out before the work whether the results can be written after it: makes the folders and
/// a file in each. Error(io) as write_results.
void check_writable(const ResultFiles& files);

}  // namespace fatune
