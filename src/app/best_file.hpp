#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/problem.hpp"
#include "data/file_tree.hpp"

namespace fatune {

/// A problem and what a best_configs.json says is the fastest for it.
struct KnownWinner {
  Problem problem;
  std::string config;  ///< short form
};

struct BestFile {
  std::string family;
  std::string space;  ///< empty when the configurations had been named
  std::vector<KnownWinner> winners;
};

/// Reads a file that `--best` or `--out` wrote. Problems that occur twice (repetitions, several
/// GPUs) count once: the first of them does. Error(bad_file) as load_json_from_disk, and when it
/// names no winner.
[[nodiscard]] BestFile read_best_file(const FileTree& tree, const std::filesystem::path& path);

}  // namespace fatune
