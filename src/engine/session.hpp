#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "engine/choice/kernel_choice.hpp"
#include "engine/choice/rivals.hpp"
#include "engine/measuring_evaluator.hpp"
#include "model/options.hpp"
#include "model/output_format.hpp"
#include "model/report.hpp"
#include "plan/problem_plan.hpp"
#include "race/point_source.hpp"
#include "store/run_writer.hpp"

namespace fatune {

/// The run that `sweep` and `run` have planned.
struct PlannedRun {
  KernelSet kernels;
  std::string space;  ///< what the records say; empty when configurations were named
  std::vector<ProblemPlan> problems;
  std::optional<Config> baseline;
  int counters = 0;  ///< MeasureOptions::counters
  /// Adapts the problems to a target. Empty: they are the same on each device.
  std::function<void(const Target&, std::vector<ProblemPlan>&)> fit = {};
  std::shared_ptr<const CandidateSearch> search = std::make_shared<ExhaustiveSearch>();
  /// Takes the place of `search` if nothing is measured; null: nothing does.
  std::shared_ptr<const CandidateSearch> search_of_estimate = {};
  /// Also measure what a cover within this percentage of the winners needs (docs/export.md).
  std::optional<double> cover_percent = {};
  /// Said at the beginning, after that nothing is measured.
  std::vector<std::string> notes = {};
  /// Race each problem's winner against an earlier one (docs/gate.md); null: none.
  std::shared_ptr<const Rivals> rivals = {};
  /// The part of a sweep that is run. Its `sweep` is plan_hash() of the whole. Absent: all.
  std::optional<Shard> shard = {};
};

/// Counts the configurations of all problems that will have an outcome, including audited ones. It
/// is an upper limit if the search does not try all.
[[nodiscard]] std::size_t count_configs(const std::vector<ProblemPlan>& problems,
                                        const CandidateSearch& search);

/// Carries out the run on the GPUs or by estimate. Prints and writes the rankings, one for each GPU
/// model. Before anything is measured, throws Error(usage) for a view of columns that will not
/// exist, Error(no_gpu), also if a cover is requested and nothing would be timed, Error(gpu_busy),
/// Error(too_large) and Error(io).
[[nodiscard]] ExitCode carry_out(const MeasureOptions& options, const PlannedRun& run);

/// If nothing will be timed, says so and why, and which of the given options have no effect.
void announce_estimate(const Target& target, const MeasureOptions& options);

/// The result of a run.
struct RunEnd {
  RunReport report;
  bool complete = false;  ///< false: the user has interrupted it
  std::size_t planned =
      0;                   ///< configurations of the run, including races for a cover; 0: not known
  bool resumable = false;  ///< the store has what a later run needs to resume it
  bool unstored = false;   ///< the store lacks results that it should have
  std::optional<Error> file_error;  ///< why the result files do not match the report
};

/// Whether outcomes are printed during a run, and the whole run as the last line.
[[nodiscard]] inline bool prints_outcomes(const OutputOptions& output) {
  return output.format == OutputFormat::json_lines && !output.view.is_set();
}

/// Carries out a plan on the target's GPUs or by estimate, and updates the result files during the
/// run. Throws Error(gpu_busy) and Error(too_large) before anything is measured. Files that become
/// unwritable (a full disk) do not end the run: see RunEnd::file_error.
[[nodiscard]] RunEnd measure(const MeasureOptions& options, const PlannedRun& run,
                             const Target& target, const ResultFiles& files, CubinCache* cache);

/// Returns the setup of one of the target's GPUs, with what to do while another fatune measures on
/// it. The caller sets the rest.
[[nodiscard]] MeasuringSetup gpu_setup(const Target& target, const TargetGpu& gpu,
                                       const TargetOptions& options, const OutputOptions& output);

/// Returns the paths of all files.
[[nodiscard]] std::vector<std::filesystem::path> paths_of(const ResultFiles& files);

/// Checks before the work that the results can be written after it: makes the folders and a file in
/// each. Throws Error(io) that names the file.
void check_writable(const ResultFiles& files);

/// The growing report of a run, and its files, which are written while the next problem is
/// measured. If they cannot be written, it warns, and tries again at the next change.
class Recorder {
 public:
  Recorder(RunReport header, ResultFiles files)
      : report_(std::move(header)), files_(std::move(files)) {}

  /// Sets a part of the report.
  template <typename Part>
  void set(Part RunReport::*member, std::type_identity_t<Part> part) {
    settle();
    report_.*member = std::move(part);
  }
  /// Adds a problem. The report has them in the order of their numbers, whichever is done first.
  void add(std::size_t number, ProblemReport problem);
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

/// Returns the identity that decides whether stored measurements can replace those of this run
/// (docs/store.md). `header`: the run's report before its first problem. All estimates share one
/// identity, which no run that measures has.
[[nodiscard]] RunIdentity identify(const PlannedRun& run, const RunReport& header);

/// Returns the hash of the problems and their configurations only, whatever measures them.
[[nodiscard]] std::string plan_hash(const PlannedRun& run);

/// Returns the hash that the runs of all shards of a sweep share, and no others: of plan, GPU
/// model, policy, toolchain, sources, name of the fleet and number of shards. `shard.sweep`:
/// plan_hash() of the whole sweep. `emulated`: an estimate uses the instructions that the emulator
/// has executed.
[[nodiscard]] std::string sweep_hash(const PlannedRun& run, const RunReport& header,
                                     const Shard& shard, bool emulated);

}  // namespace fatune
