#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/option_groups.hpp"
#include "core/exit_code.hpp"

namespace fatune {

struct ClusterSbatchOptions {
  std::filesystem::path folder;
  int shards = 0;
  int limit = 0;  ///< shards at a time; 0: no limit
  std::optional<std::string> gres;
  std::optional<std::string> constraint;
  std::vector<std::string> more;  ///< further options of sbatch
  std::vector<std::filesystem::path> bundles;
  std::vector<std::string> sweep;  ///< options of `fatune sweep`
  bool submit = false;
  OutputOptions output;
};
/// Options of the commands that work on a fleet's folder.
struct FleetOptions {
  std::filesystem::path folder;
  bool dry_run = false;  ///< retry: only say what would be repeated
  bool grouped = false;  ///< merge: as MergeOptions::grouped
  OutputOptions output;
};

/// Writes the scripts of a fleet: the job array, the merge and the report.
[[nodiscard]] ExitCode cluster_sbatch(const ClusterSbatchOptions& options);
/// Lists the shards that are not done.
[[nodiscard]] ExitCode cluster_missing(const FleetOptions& options);
/// Gives those shards to Slurm again, followed by a merge and a report.
[[nodiscard]] ExitCode cluster_retry(const FleetOptions& options);
/// Merges what the shards have delivered.
[[nodiscard]] ExitCode cluster_merge(const FleetOptions& options);

}  // namespace fatune
