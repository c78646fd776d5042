#include "store/run_reader.hpp"

#include <fmt/format.h>

#include "attention/flop.hpp"
#include "core/error.hpp"
#include "record/record_json.hpp"
#include "store/problem_columns.hpp"
#include "store/problem_details.hpp"
#include "store/seal.hpp"
#include "store/stored_outcome.hpp"

namespace fatune {
namespace {

template <typename Value>
Value read_column(const Statement& row, int column) {
  return read_record<Value>(parse_record(row.text(column)));
}

/// Columns from `first` on: batch, seq_len, heads, d_head, dtype, causal.
std::optional<StoredRun> load_header(Database& database, std::int64_t run_id) {
  Statement row = database.prepare(
      "SELECT r.command_line, r.started_at, r.wall_s, r.complete, r.space, r.family, r.baseline, "
      "d.limits, r.free_memory_bytes, r.policy, r.toolchain, r.busy_s, r.gpus "
      "FROM runs r JOIN devices d ON d.id = r.device WHERE r.id = ?");
  row.bind(run_id);
  if (!row.step()) {
    return std::nullopt;
  }
  check_run_seal(database, run_id);
  StoredRun run;
  RunReport& header = run.header;
  header.measured = true;
  header.command_line = row.text(0);
  header.started_at = row.text(1);
  header.wall_s = row.real(2);
  header.complete = row.flag(3);
  header.space = row.text(4);
  header.family = row.text(5);
  if (!row.is_null(6)) {
    run.baseline = read_column<Config>(row, 6);
  }
  header.device = read_column<DeviceLimits>(row, 7);
  header.device.free_memory_bytes = row.integer(8);
  header.policy = read_column<MeasurePolicy>(row, 9);
  header.toolchain = read_column<Toolchain>(row, 10);
  header.busy_s = row.real(11);
  header.gpus = row.small_integer(12);
  return run;
}

const char* const kEntryColumns =
    "SELECT c.config, c.short_form, c.kernel_name, c.parameters, a.facts, a.key, "
    "o.dynamic_smem_bytes, o.threads_per_block, o.blocks_per_sm, o.compile_ms, o.from_cache, "
    "o.total_flop, o.rank, o.tie_group, o.relative_percent, o.source, o.id, o.outcome, o.digest, "
    "o.same_code_as, o.pruned_by "
    "FROM outcomes o LEFT JOIN configurations c ON c.id = o.configuration "
    "LEFT JOIN artifacts a ON a.id = o.artifact WHERE o.run_problem = ? ORDER BY o.place, o.id";

Outcome read_entry_outcome(Database& database, const Statement& row) {
  const std::int64_t samples_of = row.is_null(15) ? row.integer(16) : row.integer(15);
  return read_outcome({row.text(17), load_samples(database, samples_of), row.text(18)});
}

Entry read_entry(Database& database, const Statement& row) {
  Entry entry;
  entry.config = read_column<Config>(row, 0);
  entry.short_form = row.text(1);
  entry.kernel_name = row.text(2);
  entry.parameters = read_parameters(row.text(3));
  if (!row.is_null(4)) {
    entry.facts = read_column<ResourceFacts>(row, 4);
  }
  entry.artifact_key = row.text(5);
  entry.dynamic_smem_bytes = row.integer(6);
  entry.threads_per_block = row.small_integer(7);
  entry.blocks_per_sm = row.small_integer(8);
  entry.compile_ms = row.real(9);
  entry.from_cache = row.flag(10);
  if (!row.is_null(11)) {
    entry.total_flop = row.real(11);
  }
  entry.rank = row.small_integer(12);
  entry.tie_group = row.small_integer(13);
  entry.relative_percent = row.real(14);
  entry.reused = !row.is_null(15);
  entry.same_code_as = row.text(19);
  entry.pruned_by = row.text(20);
  entry.outcome = read_entry_outcome(database, row);
  return entry;
}

std::vector<Entry>& list_for(const Entry& entry, StoredProblem& problem) {
  const bool audited = !entry.pruned_by.empty();
  const bool failed = problem.ranked && entry.rank == 0;
  return audited  ? problem.report.audited
         : failed ? problem.report.failures
                  : problem.report.ranking;
}

void load_entries(Database& database, StoredProblem& problem) {
  Statement rows = database.prepare(kEntryColumns);
  rows.bind(problem.id);
  while (rows.step()) {
    check_outcome_seal(database, rows.integer(16));
    Entry entry = read_entry(database, rows);
    list_for(entry, problem).push_back(std::move(entry));
  }
}

void load_problems(Database& database, std::int64_t run_id, StoredRun& run) {
  Statement rows = database.prepare("SELECT id FROM run_problems WHERE run = ? ORDER BY id");
  rows.bind(run_id);
  while (rows.step()) {
    run.problems.push_back(load_problem(database, rows.integer(0)));
  }
}

double flop_per_us(const RunBest& best) { return literature_flop(best.problem) / best.time_us; }

/// min() takes the other columns from the row that it finds: a documented property of SQLite.
std::optional<RunBest> best_of(Database& database, std::int64_t run_id) {
  Statement rows = database.prepare(
      fmt::format("SELECT {}, c.short_form, min(o.time_us), o.id FROM run_problems rp "
                  "JOIN problems p ON p.id = rp.problem JOIN outcomes o ON o.run_problem = rp.id "
                  "LEFT JOIN configurations c ON c.id = o.configuration "
                  "WHERE rp.run = ? AND o.time_us > 0 AND o.pruned_by = '' GROUP BY rp.id",
                  kProblemColumns));
  rows.bind(run_id);
  std::optional<RunBest> best;
  while (rows.step()) {
    check_outcome_seal(database, rows.integer(kProblemColumnCount + 2));
    RunBest candidate{read_problem(rows, 0), rows.text(kProblemColumnCount),
                      rows.real(kProblemColumnCount + 1)};
    if (!best || flop_per_us(candidate) > flop_per_us(*best)) {
      best = std::move(candidate);
    }
  }
  return best;
}

void check_problem_seals(Database& database, std::int64_t run_id) {
  Statement rows = database.prepare("SELECT id FROM run_problems WHERE run = ?");
  rows.bind(run_id);
  while (rows.step()) {
    check_problem_seal(database, rows.integer(0));
  }
}

RunSummary read_summary(Database& database, const Statement& row) {
  const std::int64_t id = row.integer(0);

  check_run_seal(database, id);
  check_problem_seals(database, id);
  return {id,
          row.text(1),
          row.text(2),
          row.text(3),
          row.flag(4),
          row.integer(5),
          row.integer(6),
          row.integer(7),
          best_of(database, id)};
}

/// Not just of some rows: the database cannot be used.
bool is_of_whole(const Database& database, const Error& error) {
  return error.where() == database.path().string();
}

}  // namespace

RunList list_runs(Database& database) {
  Statement rows = database.prepare(
      "SELECT r.id, r.started_at, d.name, r.command_line, r.complete, "
      "(SELECT count(*) FROM run_problems rp WHERE rp.run = r.id), "
      "(SELECT count(*) FROM outcomes o JOIN run_problems rp ON rp.id = o.run_problem "
      " WHERE rp.run = r.id), "
      "(SELECT count(o.source) FROM outcomes o JOIN run_problems rp ON rp.id = o.run_problem "
      " WHERE rp.run = r.id) "
      "FROM runs r JOIN devices d ON d.id = r.device ORDER BY r.id DESC");
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
  Statement row = database.prepare(
      fmt::format("SELECT {}, rp.repetition, rp.pruned, rp.invalid, rp.ranked, rp.details "
                  "FROM run_problems rp JOIN problems p ON p.id = rp.problem WHERE rp.id = ?",
                  kProblemColumns));
  row.bind(run_problem);
  StoredProblem problem;
  if (!row.step()) {
    database.fail_damaged("a problem is gone");
  }
  problem.id = run_problem;
  problem.report.problem = read_problem(row, 0);
  problem.report.run = row.small_integer(kProblemColumnCount);
  problem.report.pruned = row.integer(kProblemColumnCount + 1);
  problem.report.invalid = row.integer(kProblemColumnCount + 2);
  problem.ranked = row.flag(kProblemColumnCount + 3);
  if (!row.is_null(kProblemColumnCount + 4)) {
    read_details(row.text(kProblemColumnCount + 4), problem.report);
  }
  load_entries(database, problem);
  return problem;
}

std::optional<std::int64_t> last_run(Database& database) {
  Statement row = database.prepare("SELECT max(id) FROM runs");
  return row.step() && !row.is_null(0) ? std::optional(row.integer(0)) : std::nullopt;
}

}  // namespace fatune
