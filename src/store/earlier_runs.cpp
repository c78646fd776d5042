#include "store/earlier_runs.hpp"

#include <fmt/format.h>

#include "store/stored_result.hpp"

namespace fatune {

std::optional<std::int64_t> find_unfinished_problem(Database& database, const RunIdentity& identity,
                                                    std::int64_t except_run, const Problem& problem,
                                                    int repetition, const char* condition) {
  Statement found = database.prepare(
      fmt::format("SELECT rp.id FROM run_problems rp WHERE rp.run IN ({}) AND rp.problem = ?3 "
                  "AND rp.repetition = ?4 AND {} ORDER BY rp.id DESC LIMIT 1",
                  kUnfinishedRuns, condition));
  found.bind(except_run, identity.plan, column_text(problem), repetition);
  if (!found.step() || !is_of_problem(database, found.integer(0), identity, problem, repetition)) {
    return std::nullopt;
  }
  return found.integer(0);
}

bool is_of_problem(Database& database, std::int64_t run_problem, const RunIdentity& identity,
                   const Problem& problem, int repetition) {
  Statement row = database.prepare(
      "SELECT rp.problem, rp.repetition, r.conditions, r.plan FROM run_problems rp NOT INDEXED "
      "JOIN runs r NOT INDEXED ON r.id = rp.run WHERE rp.id = ?");
  row.bind(run_problem);
  return row.step() && row.text(0) == column_text(problem) && row.integer(1) == repetition &&
         row.text(2) == identity.conditions &&
         (identity.plan.empty() || row.text(3) == identity.plan);
}

}  // namespace fatune
