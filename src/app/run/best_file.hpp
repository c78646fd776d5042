#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "attention/problem.hpp"
#include "core/device_limits.hpp"
#include "data/file_tree.hpp"

namespace fatune {

/// A problem and its fastest configuration according to a best_configs.json.
struct KnownWinner {
  Problem problem;
  std::string family;
  std::string config;             ///< short form
  std::optional<double> time_us;  ///< its median; absent: it was estimated
};

/// The origin of a file's times.
struct WinnerOrigin {
  std::string device;         ///< name of the GPU model
  std::string driver{};       ///< its release: "580.159.04"; empty: not known
  std::string driver_cuda{};  ///< its CUDA version: "13.0"
};

struct BestFile {
  std::string family;  ///< several are joined by kJoin; so are their spaces
  std::string space;   ///< empty: the configurations were named
  WinnerOrigin origin;
  bool measured = true;  ///< false: its times are estimates
  std::vector<KnownWinner> winners;
};

/// The GPUs that fatune ships winners for.
[[nodiscard]] std::vector<DeviceLimits> shipped_gpus(const FileTree& tree);

/// Reads a file that `--best` or `--out` wrote. If it has runs on several GPU models, takes the
/// winners of `device`, else those of the first. If a problem occurs twice (repetitions, several
/// GPUs of one model), only the first counts. Throws Error(bad_file) as read_results(), and if the
/// file names no winner.
[[nodiscard]] BestFile read_best_file(const std::filesystem::path& path, const std::string& device);

/// Reads `name`, as read_best_file() does. If there is no such file, returns the winners that
/// fatune ships for the GPU that it names, as find_device() finds it.
[[nodiscard]] BestFile named_best_file(const FileTree& tree, const std::filesystem::path& name,
                                       const std::string& device);

/// Returns the winners that fatune ships for `device`. Throws Error(usage) if there are none, and
/// offers those of the nearest GPU.
[[nodiscard]] BestFile shipped_best_file(const FileTree& tree, const DeviceLimits& device);

}  // namespace fatune
