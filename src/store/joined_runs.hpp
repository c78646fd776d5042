#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "attention/problem.hpp"
#include "core/config.hpp"
#include "report/report.hpp"

namespace fatune {

/// A row of run_problems.
struct ProblemRow {
  std::int64_t id = 0;
  Problem problem;
  int repetition = 1;
  bool finished = false;  ///< nothing of it is missing
};

/// The stored run of a shard, without what its problems have.
struct StoredShard {
  std::int64_t id = 0;
  RunReport header;
  std::optional<Config> baseline;
  std::vector<ProblemRow> problems;  ///< as they were begun
};

/// The runs of a sweep's shards as one run.
struct JoinedRun {
  RunReport header;
  std::optional<Config> baseline;
  std::vector<std::int64_t> problems;  ///< rows of run_problems, in the sweep's order
};

/// Joins runs of one sweep's shards; at least one. Of what several have of a problem, that counts
/// which is finished, and of those the one that was started last. The header is that of a run that
/// measured all of it: it started with the first of them, took as long as the GPU that took
/// longest, and is complete once all problems of the sweep are finished. A run that is alone in it
/// stays as it is.
[[nodiscard]] JoinedRun join_runs(const std::vector<StoredShard>& parts);

}  // namespace fatune
