#pragma once

#include <filesystem>
#include <optional>

#include "base/error.hpp"
#include "engine/choice/problems.hpp"
#include "model/options.hpp"

namespace fatune {

struct Subcommands;

struct SweepOptions : MeasureOptions {
  AuditOptions audit;
  std::optional<double> cover_percent;  ///< PlannedRun::cover_percent
  AgainstOptions against;
  ShardOptions shard;
  std::optional<std::filesystem::path> record_dir;  ///< where a shard delivers what it has measured
  SearchOptions search;
  SimulationOptions simulation;
};

/// `sweep --simulate`: replays searches on recorded results, without a GPU and without compiling,
/// and prints how many configurations each tries until it has found a fast one (docs/search.md).
/// Throws Error(usage) if there is no such run, and Error(bad_file) for results without a time and
/// of configurations that the families do not have. Precondition: options.simulation.input.
[[nodiscard]] ExitCode simulate_searches(const SweepOptions& options);

void add_sweep_command(const Subcommands& all);

}  // namespace fatune
