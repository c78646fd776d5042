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
#include "compile/cubin_cache.hpp"
#include "core/exit_code.hpp"
#include "engine/problem_plan.hpp"
#include "report/shard.hpp"
#include "search/exhaustive_search.hpp"

namespace fatune {

/// The run that `sweep` and `run` have planned.
struct PlannedRun {
  KernelSet kernels;
  std::string space;  ///< for the records; empty when configurations were named
  std::vector<ProblemPlan> problems;
  std::optional<Config> baseline;
  int counters = 0;  ///< MeasureOptions::counters
  /// Makes the problems those of a device; empty: they are the same on each.
  std::function<void(const DeviceLimits&, std::vector<ProblemPlan>&)> fit = {};
  std::shared_ptr<const CandidateSearch> search = std::make_shared<ExhaustiveSearch>();
  /// Measure what a cover within this of the winners needs, too (docs/export.md).
  std::optional<double> cover_percent = {};
  /// Race each problem's winner against an earlier one (docs/gate.md); null: none.
  std::shared_ptr<const Rivals> rivals = {};
  /// Which part of a sweep its problems are; its `sweep` is the plan of the whole. Absent: all.
  std::optional<Shard> shard = {};
};

/// Configurations that will have an outcome, those of an audit too, over all problems: at most,
/// where the search does not try all.
[[nodiscard]] std::size_t count_configs(const std::vector<ProblemPlan>& problems,
                                        const CandidateSearch& search);

/// Carries it out on the GPUs, or by estimate, and prints and writes the rankings; a separate one
/// for each GPU model.
/// Error(usage) for a view of columns that there will not be, Error(no_gpu), also when a cover is
/// asked for and nothing would be timed, Error(gpu_busy), Error(too_large) and Error(io) come
/// before anything is measured.
[[nodiscard]] ExitCode carry_out(const MeasureOptions& options, const PlannedRun& run);

/// Says that nothing will be timed, and why, if so.
void announce_estimate(const Target& target, const OutputOptions& output);

/// The cache that the options and the environment name; null with --no-cache.
[[nodiscard]] std::unique_ptr<CubinCache> open_cache(const CompileSettings& settings);
[[nodiscard]] int job_count(const CompileSettings& settings);

}  // namespace fatune
