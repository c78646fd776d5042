#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "attention/problem.hpp"
#include "data/file_tree.hpp"
#include "report/winner_check.hpp"

namespace fatune {

/// A problem and what a best_configs.json says is the fastest for it.
struct KnownWinner {
  Problem problem;
  std::string family;
  std::string config;             ///< short form
  std::optional<double> time_us;  ///< its median; absent: it was estimated
};

struct BestFile {
  std::string family;  ///< several are joined by kJoin; so are their spaces
  std::string space;   ///< empty when the configurations had been named
  WinnerOrigin origin;
  bool measured = true;  ///< false: its times are estimates
  std::vector<KnownWinner> winners;
};

/// Reads a file that `--best` or `--out` wrote. Where it has several GPU models, the winners of
/// `device` are taken, else those of the first. Problems that occur twice (repetitions, several
/// GPUs of one model) count once: the first of them does. Error(bad_file) as load_json_from_disk,
/// and when it names no winner.
[[nodiscard]] BestFile read_best_file(const FileTree& tree, const std::filesystem::path& path,
                                      const std::string& device);

/// The winners that fatune brings along for `device`. Error(usage) when it has none for it.
[[nodiscard]] BestFile shipped_best_file(const FileTree& tree, const std::string& device);

}  // namespace fatune
