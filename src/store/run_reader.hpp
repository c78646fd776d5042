#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/config.hpp"
#include "report/report.hpp"
#include "report/run_summary.hpp"
#include "store/database.hpp"

namespace fatune {

struct StoredProblem {
  std::int64_t id = 0;  ///< row in run_problems
  ProblemReport report;
  bool ranked =
      false;  ///< false: the run was killed within it; all results are in `ranking` as found
};

struct StoredRun {
  RunReport header;  ///< without problems
  std::vector<StoredProblem> problems;
  std::optional<Config> baseline;
};

struct RunList {
  std::vector<RunSummary> runs;       ///< the latest first; the shards of a sweep as one
  std::vector<std::int64_t> damaged;  ///< numbers of those that are left out because of it
};
[[nodiscard]] RunList list_runs(Database& database);

/// A run as it was stored, of a sweep's shard with the others of its sweep (joined_runs.hpp), or
/// nothing when there is none with that number. Error(bad_file) when what is stored cannot be read.
[[nodiscard]] std::optional<StoredRun> load_run(Database& database, std::int64_t run_id);

/// A problem of a run, by its row in run_problems. Error(bad_file) when it cannot be read.
[[nodiscard]] StoredProblem load_problem(Database& database, std::int64_t run_problem);

/// The number of the run that began last; nothing when there is none.
[[nodiscard]] std::optional<std::int64_t> last_run(Database& database);

}  // namespace fatune
