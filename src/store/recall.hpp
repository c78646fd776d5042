#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "attention/problem.hpp"
#include "core/kernel_code.hpp"
#include "core/outcome.hpp"
#include "store/database.hpp"
#include "store/run_reader.hpp"
#include "store/run_writer.hpp"

namespace fatune {

// Shared parts of the queries for earlier runs.

/// Selects the unfinished runs of a plan that a new run continues. Runs from before the plan's last
/// complete run, or before the last one that began anew, do not count. Parameters: ?1 is the
/// current run, ?2 the plan.
inline constexpr const char* kUnfinishedRuns =
    "SELECT id FROM runs WHERE id <> ?1 AND plan = ?2 AND complete = 0 "
    "AND id > coalesce((SELECT max(id) FROM runs WHERE plan = ?2 AND complete = 1), 0) "
    "AND id >= coalesce((SELECT max(id) FROM runs WHERE plan = ?2 AND anew = 1), 0)";

/// Finds the latest row `rp` of run_problems that has this problem and repetition, belongs to a run
/// of kUnfinishedRuns, and satisfies the SQL `condition`.
[[nodiscard]] std::optional<std::int64_t> find_unfinished_problem(
    Database& database, const RunIdentity& identity, std::int64_t except_run,
    const Problem& problem, int repetition, const char* condition);

/// Whether a row of run_problems has this problem and repetition and belongs to a run under these
/// conditions and, unless it is empty, of this plan. Other queries use indexes, which may be
/// damaged on their own and lead to another row. This one reads the rows themselves.
[[nodiscard]] bool is_of_problem(Database& database, std::int64_t run_problem,
                                 const RunIdentity& identity, const Problem& problem,
                                 int repetition);

/// The candidate that an outcome belongs to.
struct StoredCandidate {
  Problem problem;
  int run = 1;  ///< repetition of the whole measurement
  std::string artifact_key;
  LaunchGeometry launch;
};

/// An outcome of an earlier run.
struct Recalled {
  Outcome outcome;
  std::int64_t id = 0;  ///< the outcome's id in the store
};

/// Returns the candidate's outcome, of any kind, from an earlier, unfinished run of the same plan.
/// Runs from before the plan's last complete run, or before one that began anew (NewRun::anew), do
/// not count, nor does `except_run`, the current run.
[[nodiscard]] std::optional<Recalled> recall_unfinished(Database& database,
                                                        const RunIdentity& identity,
                                                        std::int64_t except_run,
                                                        const StoredCandidate& candidate);

/// Returns the candidate's latest measurement (measured or wrong_result) by any other run under the
/// same conditions. Failures do not count: the next run may succeed.
[[nodiscard]] std::optional<Recalled> recall_measurement(Database& database,
                                                         const std::string& conditions,
                                                         std::int64_t except_run,
                                                         const StoredCandidate& candidate);

/// Returns the whole ranked report of the problem and its repetition from the latest unfinished run
/// of the same plan (as above) that finished it. Returns nothing if it is damaged.
[[nodiscard]] std::optional<StoredProblem> recall_problem(Database& database,
                                                          const RunIdentity& identity,
                                                          std::int64_t except_run,
                                                          const Problem& problem, int repetition);

/// Whether an unfinished run of the same plan (as above) has begun the problem and its repetition.
[[nodiscard]] bool has_begun(Database& database, const RunIdentity& identity,
                             std::int64_t except_run, const Problem& problem, int repetition);

/// Whether recall_unfinished() may find something. recall_measurement() queries each time.
[[nodiscard]] bool has_unfinished(Database& database, const RunIdentity& identity,
                                  std::int64_t except_run);

}  // namespace fatune
