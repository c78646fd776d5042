#pragma once

#include <cstdint>
#include <optional>

#include "attention/problem.hpp"
#include "store/database.hpp"
#include "store/run_writer.hpp"

// Shared parts of the queries for earlier runs.
namespace fatune {

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

}  // namespace fatune
