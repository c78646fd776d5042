#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/fleet/fleet_folder.hpp"

// Job scripts for Slurm. Every value in them is one word of the shell.
namespace fatune {

/// What the scripts of a fleet depend on.
struct SbatchSettings {
  std::filesystem::path program;  ///< fatune, as the nodes find it
  std::filesystem::path start;    ///< where paths in the sweep's options begin
  std::filesystem::path folder;   ///< of the fleet; absolute
  FleetPlan plan;
  std::vector<std::string> sweep;              ///< options of `fatune sweep`
  std::optional<std::string> gres;             ///< as "gpu:1"
  std::optional<std::string> constraint;       ///< as "h200"
  std::vector<std::string> more;               ///< further options of sbatch, as "--time=2:00:00"
  std::vector<std::filesystem::path> bundles;  ///< of compiled kernels, that shards import
};

/// The options that a shard's `fatune sweep` has, but for --shard.
[[nodiscard]] std::vector<std::string> shard_options(const SbatchSettings& settings);

/// A job array of the shards. Error(usage) for a control character in what a line of #SBATCH has,
/// and for a folder in whose name Slurm would replace something.
[[nodiscard]] std::string array_script(const SbatchSettings& settings);
[[nodiscard]] std::string merge_script(const SbatchSettings& settings);
[[nodiscard]] std::string report_script(const SbatchSettings& settings);

/// "1-8%4", or "2,5%4" of some shards.
[[nodiscard]] std::string array_text(const std::vector<int>& numbers, const FleetPlan& plan);

}  // namespace fatune
