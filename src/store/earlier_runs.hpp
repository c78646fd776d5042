#pragma once

#include <cstdint>
#include <optional>

#include "attention/problem.hpp"
#include "store/database.hpp"
#include "store/run_writer.hpp"

// Parts that the queries for earlier runs share.
namespace fatune {

/// Numbers of a plan's runs that a new one continues: none from before the plan's last complete
/// run, or before one that began anew. Parameters: ?1 is the run under way, ?2 the plan.
inline constexpr const char* kUnfinishedRuns =
    "SELECT id FROM runs WHERE id <> ?1 AND plan = ?2 AND complete = 0 "
    "AND id > coalesce((SELECT max(id) FROM runs WHERE plan = ?2 AND complete = 1), 0) "
    "AND id >= coalesce((SELECT max(id) FROM runs WHERE plan = ?2 AND anew = 1), 0)";

/// The latest row `rp` of run_problems that is of the problem and its repetition, of such a run,
/// and as `condition` wants it.
[[nodiscard]] std::optional<std::int64_t> find_unfinished_problem(
    Database& database, const RunIdentity& identity, std::int64_t except_run,
    const Problem& problem, int repetition, const char* condition);

/// Whether a row of run_problems is of that problem and repetition, and of a run under these
/// conditions and, unless it is empty, of this plan. Queries ask indexes, which may be damaged on
/// their own and lead to another row; this one asks the rows.
[[nodiscard]] bool is_of_problem(Database& database, std::int64_t run_problem,
                                 const RunIdentity& identity, const Problem& problem,
                                 int repetition);

}  // namespace fatune
