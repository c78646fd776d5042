#include "store/recall.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "store/stored_result.hpp"

namespace fatune {
namespace {

/// Selects the unfinished runs of a plan that a new run continues. Runs from before the plan's last
/// complete run, or before the last one that began anew, do not count. Parameters: ?1 is the
/// current run, ?2 the plan.
constexpr const char* kUnfinishedRuns =
    "SELECT id FROM runs WHERE id <> ?1 AND plan = ?2 AND complete = 0 "
    "AND id > coalesce((SELECT max(id) FROM runs WHERE plan = ?2 AND complete = 1), 0) "
    "AND id >= coalesce((SELECT max(id) FROM runs WHERE plan = ?2 AND anew = 1), 0)";

/// Whether a row of run_problems has this problem and repetition and belongs to a run under these
/// conditions and, unless it is empty, of this plan. Other queries use indexes, which may be
/// damaged on their own and lead to another row. This one reads the rows themselves.
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

/// Finds the latest row `rp` of run_problems that has this problem and repetition, belongs to a run
/// of kUnfinishedRuns, and satisfies the SQL `condition`.
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

/// Selects the candidate's outcomes in other runs that have their own samples and do not repeat
/// another outcome. Parameters: ?1 is the current run, ?2 the plan.
constexpr const char* kOfCandidate =
    "SELECT o.id, o.result, o.run_problem FROM outcomes o "
    "JOIN run_problems rp ON rp.id = o.run_problem JOIN runs r ON r.id = rp.run "
    "WHERE r.id <> ?1 AND r.conditions = ?3 AND rp.problem = ?4 AND rp.repetition = ?5 "
    "AND o.artifact_key = ?6 AND o.launch = ?7 AND o.tried = 1 AND o.source IS NULL AND ";

constexpr const char* kLatest = " ORDER BY o.id DESC LIMIT 1";

/// Returns the result of `read`. Damaged data counts as missing, and is measured again. Throws an
/// Error if the database cannot be read at all.
template <typename Read>
auto readable(const Database& database, Read read) -> std::optional<decltype(read())> {
  try {
    return read();
  } catch (const Error& error) {
    if (error.where() == database.path().string()) {
      throw;
    }
    return std::nullopt;
  }
}

/// Whether the row that was found belongs to the candidate; see is_of_problem().
bool is_of_candidate(Database& database, std::int64_t id, const StoredCandidate& candidate) {
  Statement row =
      database.prepare("SELECT artifact_key, launch FROM outcomes NOT INDEXED WHERE id = ?");
  row.bind(id);
  return row.step() && row.text(0) == candidate.artifact_key &&
         row.text(1) == launch_column(candidate.launch);
}

/// The candidate's latest outcome that satisfies the SQL `condition`.
std::optional<Recalled> latest(Database& database, const RunIdentity& identity,
                               std::int64_t except_run, const StoredCandidate& candidate,
                               const std::string& condition) {
  Statement found = database.prepare(kOfCandidate + condition + kLatest);
  found.bind(except_run, identity.plan, identity.conditions, column_text(candidate.problem),
             candidate.run, candidate.artifact_key, launch_column(candidate.launch));
  if (!found.step() || !is_of_candidate(database, found.integer(0), candidate) ||
      !is_of_problem(database, found.integer(2), identity, candidate.problem, candidate.run)) {
    return std::nullopt;
  }
  const std::int64_t id = found.integer(0);
  return readable(database, [&] {
    return Recalled{load_result(database, found.text(1), id).outcome, id};
  });
}

}  // namespace

std::optional<Recalled> recall_unfinished(Database& database, const RunIdentity& identity,
                                          std::int64_t except_run,
                                          const StoredCandidate& candidate) {
  return latest(database, identity, except_run, candidate,
                fmt::format("r.id IN ({})", kUnfinishedRuns));
}

std::optional<Recalled> recall_measurement(Database& database, const std::string& conditions,
                                           std::int64_t except_run,
                                           const StoredCandidate& candidate) {
  return latest(database, {conditions, {}}, except_run, candidate,
                "o.kind IN ('measured', 'wrong_result')");
}

std::optional<StoredProblem> recall_problem(Database& database, const RunIdentity& identity,
                                            std::int64_t except_run, const Problem& problem,
                                            int repetition) {
  const auto found = find_unfinished_problem(database, identity, except_run, problem, repetition,
                                             "rp.finished = 1");
  return found ? readable(database, [&] { return load_problem(database, *found); }) : std::nullopt;
}

bool has_begun(Database& database, const RunIdentity& identity, std::int64_t except_run,
               const Problem& problem, int repetition) {
  return find_unfinished_problem(database, identity, except_run, problem, repetition, "TRUE")
      .has_value();
}

bool has_unfinished(Database& database, const RunIdentity& identity, std::int64_t except_run) {
  Statement found = database.prepare(kUnfinishedRuns);
  found.bind(except_run, identity.plan);
  return found.step();
}

std::vector<JournalEvent> recall_journal(Database& database, const RunIdentity& identity,
                                         std::int64_t except_run, const Problem& problem,
                                         int repetition) {
  const auto found =
      find_unfinished_problem(database, identity, except_run, problem, repetition,
                              "EXISTS (SELECT 1 FROM journal j WHERE j.run_problem = rp.id)");
  return found ? load_journal(database, *found) : std::vector<JournalEvent>();
}

}  // namespace fatune
