#include "store/recall.hpp"

#include "core/error.hpp"
#include "store/earlier_runs.hpp"
#include "store/seal.hpp"
#include "store/stored_outcome.hpp"

namespace fatune {
namespace {

/// An outcome with its samples, of the candidate, not itself repeated, of another run.
const std::string kOfCandidate =
    "SELECT o.id, o.outcome, o.digest, o.run_problem FROM artifacts a "
    "JOIN outcomes o ON o.artifact = a.id "
    "JOIN run_problems rp ON rp.id = o.run_problem "
    "JOIN problems p ON p.id = rp.problem "
    "JOIN runs r ON r.id = rp.run "
    "WHERE " +
    std::string(kOfProblem) +
    " AND a.key = ? AND o.launch = ? AND o.tried = 1 AND o.source IS NULL "
    "AND r.conditions = ? AND r.id <> ? ";

const std::string kLatest = " ORDER BY o.id DESC LIMIT 1";

/// The result of `read`. Damaged data counts as missing, so that it is measured again. A database
/// that cannot be read at all is an Error.
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

/// Whether the row that was found is what was looked for; see is_of_problem().
bool is_of_candidate(Database& database, std::int64_t id, const StoredCandidate& candidate) {
  Statement row = database.prepare(
      "SELECT a.key, o.launch FROM outcomes o NOT INDEXED "
      "JOIN artifacts a NOT INDEXED ON a.id = o.artifact WHERE o.id = ?");
  row.bind(id);
  return row.step() && row.text(0) == candidate.artifact_key &&
         row.text(1) == launch_column(candidate.launch);
}

std::optional<Recalled> first(Database& database, Statement& found, const RunIdentity& identity,
                              const StoredCandidate& candidate) {
  if (!found.step() || !is_of_candidate(database, found.integer(0), candidate) ||
      !is_of_problem(database, found.integer(3), identity, candidate.problem, candidate.run)) {
    return std::nullopt;
  }

  const std::int64_t id = found.integer(0);
  return readable(database, [&] {
    check_outcome_seal(database, id);
    return Recalled{read_outcome({found.text(1), load_samples(database, id), found.text(2)}), id};
  });
}

template <typename... More>
void bind_candidate(Statement& statement, const StoredCandidate& candidate,
                    const std::string& conditions, std::int64_t except_run, const More&... more) {
  bind_problem(statement, candidate.problem, candidate.run, candidate.artifact_key,
               launch_column(candidate.launch), conditions, except_run, more...);
}

}  // namespace

std::optional<Recalled> recall_unfinished(Database& database, const RunIdentity& identity,
                                          std::int64_t except_run,
                                          const StoredCandidate& candidate) {
  Statement found =
      database.prepare(kOfCandidate + "AND r.id IN (" + kUnfinishedRuns + ")" + kLatest);
  bind_candidate(found, candidate, identity.conditions, except_run, except_run, identity.plan,

                 identity.plan, identity.plan);
  return first(database, found, identity, candidate);
}

std::optional<Recalled> recall_measurement(Database& database, const std::string& conditions,
                                           std::int64_t except_run,
                                           const StoredCandidate& candidate) {
  Statement found =
      database.prepare(kOfCandidate + "AND o.kind IN ('measured', 'wrong_result')" + kLatest);
  bind_candidate(found, candidate, conditions, except_run);
  return first(database, found, {conditions, {}}, candidate);
}

std::optional<StoredProblem> recall_problem(Database& database, const RunIdentity& identity,
                                            std::int64_t except_run, const Problem& problem,
                                            int repetition) {
  Statement found = database.prepare(
      std::string("SELECT rp.id FROM run_problems rp JOIN problems p ON p.id = rp.problem WHERE ") +
      kOfProblem + " AND rp.finished = 1 AND rp.run IN (" + kUnfinishedRuns +
      ") ORDER BY rp.id DESC LIMIT 1");
  bind_problem(found, problem, repetition, except_run, identity.plan, identity.plan, identity.plan);

  if (!found.step() || !is_of_problem(database, found.integer(0), identity, problem, repetition)) {
    return std::nullopt;
  }
  return readable(database, [&] { return load_problem(database, found.integer(0)); });
}

bool has_begun(Database& database, const RunIdentity& identity, std::int64_t except_run,
               const Problem& problem, int repetition) {
  Statement found = database.prepare(
      std::string("SELECT rp.id FROM run_problems rp JOIN problems p ON p.id = rp.problem WHERE ") +
      kOfProblem + " AND rp.run IN (" + kUnfinishedRuns + ") LIMIT 1");
  bind_problem(found, problem, repetition, except_run, identity.plan, identity.plan, identity.plan);
  return found.step();
}

bool has_unfinished(Database& database, const RunIdentity& identity, std::int64_t except_run) {
  Statement found = database.prepare(kUnfinishedRuns);
  found.bind(except_run, identity.plan, identity.plan, identity.plan);
  return found.step();
}

}  // namespace fatune
