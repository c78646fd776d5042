#pragma once

#include <filesystem>
#include <optional>

#include "app/choice/shards.hpp"
#include "app/option_groups.hpp"
#include "core/exit_code.hpp"

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

/// Options become a plan, a plan becomes artifacts, artifacts become outcomes, outcomes become a
/// ranking, a ranking becomes bytes. For --simulate, see simulate_command.hpp.
[[nodiscard]] ExitCode sweep(const SweepOptions& options);

void add_sweep_command(const Subcommands& all);

}  // namespace fatune
