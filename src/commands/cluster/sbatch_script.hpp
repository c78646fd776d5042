#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/fleet/fleet_folder.hpp"

// Job scripts for Slurm. Every value in them is one word of the shell.
namespace fatune {

/// The settings of a fleet's scripts.
struct SbatchSettings {
  std::filesystem::path program;  ///< path of fatune on the nodes
  std::filesystem::path start;    ///< folder that paths in the sweep's options are relative to
  std::filesystem::path folder;   ///< the fleet's folder; absolute
  FleetPlan plan;
  std::vector<std::string> sweep;              ///< options of `fatune sweep`
  std::optional<std::string> gres;             ///< for example "gpu:1"
  std::optional<std::string> constraint;       ///< for example "h200"
  std::vector<std::string> more;               ///< further options of sbatch, as "--time=2:00:00"
  std::vector<std::filesystem::path> bundles;  ///< bundles of compiled kernels that shards import
};

/// Returns the script of a job array of the shards. Throws Error(usage) for a control character in
/// a #SBATCH line, and for a folder in whose name Slurm would replace something.
[[nodiscard]] std::string array_script(const SbatchSettings& settings);
[[nodiscard]] std::string merge_script(const SbatchSettings& settings);
[[nodiscard]] std::string report_script(const SbatchSettings& settings);

/// Returns "1-8%4" for all shards, or "2,5%4" for some.
[[nodiscard]] std::string array_text(const std::vector<int>& numbers, const FleetPlan& plan);

}  // namespace fatune
