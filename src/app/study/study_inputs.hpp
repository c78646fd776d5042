#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "emit/plots/study_report.hpp"

namespace fatune {

/// The runs of one input.
struct InputRuns {
  std::string name;  ///< for people: as it was named; "run 12"
  std::vector<RunReport> runs;
  bool has_winners_only = false;  ///< a best_configs.json
};

/// `input`: a run of the store `db_file` by number, or "last"; or a file that a run has written.
/// Error(usage) when there is no such run; Error(bad_file) when a file cannot be read.
[[nodiscard]] InputRuns load_runs(const std::string& input,
                                  const std::optional<std::filesystem::path>& db_file);

/// The runs that `inputs` name, and what else they say. A number, or "last", is a run of the store
/// `db_file`; anything else is a file: an output of a run, of `sass why`, or of compare_peers.
/// Without inputs: what fatune ships. Error(usage) when there is no such run, or no run among the
/// inputs; Error(bad_file) when a file cannot be read.
[[nodiscard]] StudyReport load_study(const std::vector<std::string>& inputs,
                                     const std::optional<std::filesystem::path>& db_file);

}  // namespace fatune
