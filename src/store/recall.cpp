#include "store/recall.hpp"

#include "core/error.hpp"
#include "store/stored_outcome.hpp"

namespace fatune {
namespace {

/// An outcome with its samples, of the trial, not itself repeated, of another run.
const std::string kOfTrial =
    "SELECT o.id, o.outcome, o.digest FROM artifacts a "
    "JOIN outcomes o ON o.artifact = a.id "
    "JOIN run_problems rp ON rp.id = o.run_problem "
    "JOIN problems p ON p.id = rp.problem "
    "JOIN runs r ON r.id = rp.run "
    "WHERE a.key = ? AND o.launch = ? AND o.tried = 1 AND o.source IS NULL AND rp.repetition = ? "
    "AND p.batch = ? AND p.seq_len = ? AND p.heads = ? AND p.d_head = ? AND p.dtype = ? "
    "AND p.causal = ? AND r.conditions = ? AND r.id <> ? ";

/// Runs of a plan that a new one continues. Parameters: the run under way, the plan three times.
const std::string kUnfinishedRuns =
    "SELECT id FROM runs WHERE id <> ? AND plan = ? AND complete = 0 "
    "AND id > coalesce((SELECT max(id) FROM runs WHERE plan = ? AND complete = 1), 0) "
    "AND id >= coalesce((SELECT max(id) FROM runs WHERE plan = ? AND anew = 1), 0)";

const std::string kLatest = " ORDER BY o.id DESC LIMIT 1";

/// What cannot be read counts as not there: it is measured again.
std::optional<Outcome> readable(const OutcomeColumns& columns) {
  try {
    return read_outcome(columns);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<Recalled> first(Database& database, Statement& found) {
  if (!found.step()) {
    return std::nullopt;
  }
  const std::int64_t id = found.integer(0);
  auto outcome = readable({found.text(1), load_samples(database, id), found.text(2)});
  return outcome ? std::optional(Recalled{*std::move(outcome), id}) : std::nullopt;
}

template <typename... More>
void bind_trial(Statement& statement, const StoredTrial& trial, const std::string& conditions,
                std::int64_t except_run, const More&... more) {
  const Problem& p = trial.problem;
  statement.bind(trial.artifact_key, launch_column(trial.launch), trial.run, p.batch, p.seq_len,
                 p.heads, p.d_head, static_cast<int>(p.dtype), p.causal, conditions, except_run,
                 more...);
}

}  // namespace

std::optional<Recalled> recall_unfinished(Database& database, const RunIdentity& identity,
                                          std::int64_t except_run, const StoredTrial& trial) {
  Statement found = database.prepare(kOfTrial + "AND r.id IN (" + kUnfinishedRuns + ")" + kLatest);
  bind_trial(found, trial, identity.conditions, except_run, except_run, identity.plan,
             identity.plan, identity.plan);
  return first(database, found);
}

std::optional<Recalled> recall_measurement(Database& database, const std::string& conditions,
                                           std::int64_t except_run, const StoredTrial& trial) {
  Statement found =
      database.prepare(kOfTrial + "AND o.kind IN ('measured', 'wrong_result')" + kLatest);
  bind_trial(found, trial, conditions, except_run);
  return first(database, found);
}

bool has_unfinished(Database& database, const RunIdentity& identity, std::int64_t except_run) {
  Statement found = database.prepare(kUnfinishedRuns);
  found.bind(except_run, identity.plan, identity.plan, identity.plan);
  return found.step();
}

}  // namespace fatune
