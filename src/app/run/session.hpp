#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/choice/kernel_choice.hpp"
#include "app/choice/rivals.hpp"
#include "app/option_groups.hpp"
#include "app/run/recorder.hpp"
#include "core/error.hpp"
#include "core/output_format.hpp"
#include "engine/measuring_evaluator.hpp"
#include "engine/problem_plan.hpp"
#include "report/report.hpp"
#include "report/shard.hpp"
#include "search/exhaustive_search.hpp"

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
[[nodiscard]] bool prints_outcomes(const OutputOptions& output);

/// Carries out a plan on the target's GPUs or by estimate, and updates the result files during the
/// run. Throws Error(gpu_busy) and Error(too_large) before anything is measured. Files that become
/// unwritable (a full disk) do not end the run: see RunEnd::file_error.
[[nodiscard]] RunEnd measure(const MeasureOptions& options, const PlannedRun& run,
                             const Target& target, const ResultFiles& files, CubinCache* cache);

/// Returns the setup of one of the target's GPUs, with what to do while another fatune measures on
/// it. The caller sets the rest.
[[nodiscard]] MeasuringSetup gpu_setup(const Target& target, const TargetGpu& gpu,
                                       const TargetOptions& options, const OutputOptions& output);

/// Checks a view before anything is measured. Throws Error(usage) for a column that the run's
/// records will not have, and for an expression that does not parse.
void check_view(const TableView& view, const PlannedRun& run);

}  // namespace fatune
