#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/choice/kernel_choice.hpp"
#include "app/choice/rivals.hpp"
#include "app/choice/target.hpp"
#include "app/option_groups.hpp"
#include "core/error.hpp"
#include "engine/problem_plan.hpp"
#include "report/shard.hpp"
#include "search/point_source.hpp"

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

}  // namespace fatune
