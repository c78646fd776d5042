#pragma once

#include <chrono>
#include <filesystem>
#include <future>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/option_groups.hpp"
#include "core/error.hpp"
#include "report/report.hpp"

namespace fatune {

/// Returns the paths of all files.
[[nodiscard]] std::vector<std::filesystem::path> paths_of(const ResultFiles& files);

/// Checks before the work that the results can be written after it: makes the folders and a file in
/// each. Throws Error(io) that names the file.
void check_writable(const ResultFiles& files);

/// The growing report of a run, and its files, which are written while the next problem is
/// measured. If they cannot be written, it warns, and tries again at the next change.
class Recorder {
 public:
  Recorder(RunReport header, ResultFiles files);

  /// Sets the GPU, once it is known how much of its memory is free.
  void set_device(const DeviceLimits& limits);
  /// Adds a problem. The report has them in the order of their numbers, whichever is done first.
  void add(std::size_t number, ProblemReport problem);
  void set_gate(GateReport gate);
  void set_disturbances(std::vector<std::string> disturbances);
  /// Waits until the files match the report, or writing them has failed.
  void settle();
  /// Completes the report and its files. `busy_s`: RunReport::busy_s.
  void close(bool complete, double busy_s);

  [[nodiscard]] const RunReport& report() const { return report_; }
  /// Why the files do not match the report. Precondition: settled.
  [[nodiscard]] const std::optional<Error>& file_error() const { return file_error_; }

 private:
  void note_wall_time();
  /// Writes the files, each whole or not at all. A device or a FIFO is written only at the end.
  void save(bool at_the_end);

  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  RunReport report_;
  ResultFiles files_;
  std::set<std::size_t> numbers_;  ///< numbers of the problems in the report
  std::optional<Error> file_error_;
  std::future<void> saving_;  ///< reads the report, which must not change until it is done
};

}  // namespace fatune
