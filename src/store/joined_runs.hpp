#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "attention/problem.hpp"
#include "core/config.hpp"
#include "report/report.hpp"
#include "store/database.hpp"

namespace fatune {

/// A row of run_problems.
struct ProblemRow {
  std::int64_t id = 0;
  Problem problem;
  int repetition = 1;
  bool finished = false;  ///< nothing is missing
};

/// The stored run of a shard, without the contents of its problems.
struct StoredShard {
  std::int64_t id = 0;
  RunReport header;
  std::optional<Config> baseline;
  std::vector<ProblemRow> problems;  ///< ordered by when they were begun
};

/// The runs of a sweep's shards, joined into one run.
struct JoinedRun {
  RunReport header;
  std::optional<Config> baseline;
  std::vector<std::int64_t> problems;  ///< row ids in run_problems, in the sweep's order
};

/// Joins the runs, at least one, of one sweep's shards. If several runs have a problem, a finished
/// row is preferred to an unfinished one, and then the one that was started last. The header
/// describes a run that measured everything: it started with the first of the runs, took as long as
/// the GPU that took longest, and is complete once all problems of the sweep are finished. If only
/// one run contributes, its header stays as it is.
[[nodiscard]] JoinedRun join_runs(const std::vector<StoredShard>& parts);

/// Counts the problems of a shard that are finished in a store. Takes into account all runs,
/// including earlier attempts, of the latest sweep that has stored this shard.
[[nodiscard]] std::int64_t count_finished(Database& database, const Shard& shard);

}  // namespace fatune
