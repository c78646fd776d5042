#pragma once

#include <cstdint>

#include "attention/problem.hpp"
#include "store/database.hpp"
#include "store/problem_columns.hpp"
#include "store/run_writer.hpp"

// Parts that the queries for earlier runs share.
namespace fatune {

/// Numbers of a plan's runs that a new one continues: none from before the plan's last complete
/// run, or before one that began anew. Parameters: the run under way, the plan three times.
inline constexpr const char* kUnfinishedRuns =
    "SELECT id FROM runs WHERE id <> ? AND plan = ? AND complete = 0 "
    "AND id > coalesce((SELECT max(id) FROM runs WHERE plan = ? AND complete = 1), 0) "
    "AND id >= coalesce((SELECT max(id) FROM runs WHERE plan = ? AND anew = 1), 0)";

/// The condition that the row `rp` of run_problems, and `p` of problems, are of a problem and its
/// repetition. Parameters: those that bind_problem() binds.
inline constexpr const char* kOfProblem =
    "rp.repetition = ? AND p.batch = ? AND p.seq_len = ? AND p.heads = ? AND p.d_head = ? "
    "AND p.dtype = ? AND p.causal = ? AND rp.problem_details = ?";

/// Binds kOfProblem's parameters, which come first, and then `more`.
template <typename... More>
void bind_problem(Statement& statement, const Problem& p, int repetition, const More&... more) {
  statement.bind(repetition, p.batch, p.seq_len, p.heads, p.d_head, static_cast<int>(p.dtype),
                 p.causal, details_text(p), more...);
}

/// Whether a row of run_problems is of that problem and repetition, and of a run under these
/// conditions and, unless it is empty, of this plan. The queries above ask indexes, which may be
/// damaged on their own and lead to another row; this one asks the rows.
[[nodiscard]] bool is_of_problem(Database& database, std::int64_t run_problem,
                                 const RunIdentity& identity, const Problem& problem,
                                 int repetition);

}  // namespace fatune
