#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/config.hpp"
#include "report/emulation.hpp"
#include "report/report.hpp"
#include "store/database.hpp"

namespace fatune {

struct StoredProblem {
  std::int64_t id = 0;  ///< row in run_problems
  ProblemReport report;
  bool ranked =
      false;  ///< false: the run was killed during it, and `ranking` has all results as found
};

struct StoredRun {
  RunReport header;  ///< has no problems
  std::vector<StoredProblem> problems;
  std::optional<Config> baseline;
};

struct RunList {
  std::vector<RunSummary> runs;       ///< the latest first; the shards of a sweep are one entry
  std::vector<std::int64_t> damaged;  ///< numbers of damaged runs, which are left out
};
[[nodiscard]] RunList list_runs(Database& database);

/// Loads a run as it was stored. A shard is joined with the other runs of its sweep
/// (joined_runs.hpp). Returns nothing if there is no run with that number. Throws Error(bad_file)
/// if the stored data cannot be read.
[[nodiscard]] std::optional<StoredRun> load_run(Database& database, std::int64_t run_id);

/// Loads a problem of a run by its row in run_problems. Throws Error(bad_file) if it cannot be
/// read.
[[nodiscard]] StoredProblem load_problem(Database& database, std::int64_t run_problem);

/// Returns the number of the run that began last. Returns nothing if there is no run.
[[nodiscard]] std::optional<std::int64_t> last_run(Database& database);

}  // namespace fatune
