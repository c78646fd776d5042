#include "store/run_reader.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "attention/flop.hpp"
#include "core/error.hpp"
#include "store/seal.hpp"
#include "store/stored_result.hpp"

namespace fatune {
namespace {

std::optional<StoredRun> load_header(Database& database, std::int64_t run_id) {
  Statement row = database.prepare("SELECT header, complete, baseline FROM runs WHERE id = ?");
  row.bind(run_id);
  if (!row.step()) {
    return std::nullopt;
  }
  check_run_seal(database, run_id);
  StoredRun run{read_column<RunReport>(row, 0), {}, {}};
  run.header.measured = true;
  run.header.complete = row.flag(1);
  if (!row.is_null(2)) {
    run.baseline = read_column<Config>(row, 2);
  }
  return run;
}

std::vector<Result>& list_for(const Result& result, StoredProblem& problem) {
  const bool audited = !result.pruned_by.empty();
  const bool failed = problem.ranked && result.rank == 0;
  return audited  ? problem.report.audited
         : failed ? problem.report.failures
                  : problem.report.ranking;
}

void load_results(Database& database, StoredProblem& problem) {
  Statement rows = database.prepare(
      "SELECT id, result, source FROM outcomes WHERE run_problem = ? ORDER BY place, id");
  rows.bind(problem.id);
  while (rows.step()) {
    const bool repeated = !rows.is_null(2);
    check_outcome_seal(database, rows.integer(0));
    Result result = load_result(database, rows.text(1), rows.integer(repeated ? 2 : 0));
    result.reused = result.reused || repeated;
    list_for(result, problem).push_back(std::move(result));
  }
}

std::vector<std::int64_t> problems_of(Database& database, std::int64_t run_id) {
  Statement rows = database.prepare("SELECT id FROM run_problems WHERE run = ? ORDER BY id");
  return rows.bind(run_id).integers();
}

void load_problems(Database& database, std::int64_t run_id, StoredRun& run) {
  for (const std::int64_t id : problems_of(database, run_id)) {
    run.problems.push_back(load_problem(database, id));
  }
}

double flop_per_us(const RunBest& best) { return literature_flop(best.problem) / best.time_us; }

RunBest read_best(Database& database, std::int64_t outcome) {
  check_outcome_seal(database, outcome);
  Statement row = database.prepare(
      "SELECT rp.problem, o.result, o.time_us FROM outcomes o "
      "JOIN run_problems rp ON rp.id = o.run_problem WHERE o.id = ?");
  row.bind(outcome);
  if (!row.step()) {
    database.fail_damaged("an outcome is gone");
  }
  return {read_column<Problem>(row, 0), read_column<Result>(row, 1).short_form, row.real(2)};
}

/// The fastest of a problem that no audit tried.
std::optional<RunBest> best_of_problem(Database& database, std::int64_t run_problem) {
  Statement row = database.prepare(
      "SELECT id FROM outcomes WHERE run_problem = ? AND time_us > 0 AND audited = 0 "
      "ORDER BY time_us LIMIT 1");
  row.bind(run_problem);
  return row.step() ? std::optional(read_best(database, row.integer(0))) : std::nullopt;
}

std::optional<RunBest> best_of(Database& database, std::int64_t run_id) {
  std::optional<RunBest> best;
  for (const std::int64_t id : problems_of(database, run_id)) {
    check_problem_seal(database, id);
    auto candidate = best_of_problem(database, id);
    if (candidate && (!best || flop_per_us(*candidate) > flop_per_us(*best))) {
      best = std::move(candidate);
    }
  }
  return best;
}

/// A text of a header, of which other parts may be missing.
std::string header_text(const nlohmann::json& header, const char* pointer) {
  const nlohmann::json::json_pointer at(pointer);
  return header.contains(at) && header[at].is_string() ? header[at].get<std::string>()
                                                       : std::string();
}

RunSummary read_summary(Database& database, const Statement& row) {
  const std::int64_t id = row.integer(0);
  check_run_seal(database, id);
  const nlohmann::json header = parse_record(row.text(1));
  return {id,
          header_text(header, "/started_at"),
          header_text(header, "/device/name"),
          header_text(header, "/command_line"),
          row.flag(2),
          row.integer(3),
          row.integer(4),
          row.integer(5),
          best_of(database, id)};
}

/// Not just of some rows: the database cannot be used.
bool is_of_whole(const Database& database, const Error& error) {
  return error.where() == database.path().string();
}

}  // namespace

RunList list_runs(Database& database) {
  Statement rows = database.prepare(
      "SELECT r.id, r.header, r.complete, "
      "(SELECT count(*) FROM run_problems rp WHERE rp.run = r.id), "
      "(SELECT count(*) FROM outcomes o JOIN run_problems rp ON rp.id = o.run_problem "
      " WHERE rp.run = r.id), "
      "(SELECT count(o.source) FROM outcomes o JOIN run_problems rp ON rp.id = o.run_problem "
      " WHERE rp.run = r.id) FROM runs r ORDER BY r.id DESC");
  RunList list;
  while (rows.step()) {
    try {
      list.runs.push_back(read_summary(database, rows));
    } catch (const Error& error) {
      if (is_of_whole(database, error)) {
        throw;
      }
      list.damaged.push_back(rows.integer(0));
    }
  }
  return list;
}

std::optional<StoredRun> load_run(Database& database, std::int64_t run_id) {
  try {
    std::optional<StoredRun> run = load_header(database, run_id);
    if (run) {
      load_problems(database, run_id, *run);
    }
    return run;
  } catch (const Error& error) {
    if (is_of_whole(database, error)) {
      throw;
    }
    throw Error(
        error.code(),
        fmt::format("run {} cannot be read: {} {}", run_id, error.what_was_wrong(), error.where()),
        database.path().string(), "other runs may be readable: see 'fatune history'");
  }
}

StoredProblem load_problem(Database& database, std::int64_t run_problem) {
  check_problem_seal(database, run_problem);
  Statement row =
      database.prepare("SELECT problem, repetition, ranked, report FROM run_problems WHERE id = ?");
  row.bind(run_problem);
  if (!row.step()) {
    database.fail_damaged("a problem is gone");
  }
  StoredProblem problem{run_problem, read_column<ProblemReport>(row, 3), row.flag(2)};
  problem.report.problem = read_column<Problem>(row, 0);
  problem.report.run = row.small_integer(1);
  load_results(database, problem);
  return problem;
}

std::optional<std::int64_t> last_run(Database& database) {
  Statement row = database.prepare("SELECT max(id) FROM runs");
  return row.step() && !row.is_null(0) ? std::optional(row.integer(0)) : std::nullopt;
}

}  // namespace fatune
