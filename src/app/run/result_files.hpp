#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "app/option_groups.hpp"
#include "report/report.hpp"

namespace fatune {

/// The files of a run's results, apart from the ranking on standard output. All may be absent.
struct ResultFiles {
  std::optional<std::filesystem::path> folder;     ///< results.json, results.csv, best_configs.json
  std::optional<std::filesystem::path> best_file;  ///< best_configs.json under another name
  bool print_best = false;  ///< best_configs.json on standard output, in place of the ranking
  std::optional<std::filesystem::path> junit_file{};  ///< verdicts on winners, as JUnit XML

  [[nodiscard]] std::vector<std::filesystem::path> paths() const;
};

/// When results are written. A device or a FIFO takes them only once, at the end.
enum class Moment { meanwhile, at_the_end };

/// Returns the files that the options name. Throws Error(usage) if two documents would go to
/// standard output.
[[nodiscard]] ResultFiles result_files(const MeasureOptions& options);

/// Writes all files, each whole or not at all. Throws Error(io) that names the file.
void write_results(const ResultFiles& files, const RunReport& report, Moment moment);

/// Checks before the work that the results can be written after it: makes the folders and a file in
/// each. Throws Error(io) as write_results().
void check_writable(const ResultFiles& files);

}  // namespace fatune
