#include "store/earlier_runs.hpp"

#include <string>

namespace fatune {

bool is_of_problem(Database& database, std::int64_t run_problem, const RunIdentity& identity,
                   const Problem& problem, int repetition) {
  Statement row =
      database.prepare(std::string("SELECT r.conditions, r.plan FROM run_problems rp NOT INDEXED "
                                   "JOIN problems p NOT INDEXED ON p.id = rp.problem "
                                   "JOIN runs r NOT INDEXED ON r.id = rp.run WHERE ") +
                       kOfProblem + " AND rp.id = ?");
  bind_problem(row, problem, repetition, run_problem);
  return row.step() && row.text(0) == identity.conditions &&
         (identity.plan.empty() || row.text(1) == identity.plan);
}

}  // namespace fatune
