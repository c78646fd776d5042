#include "store/run_reader.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "record/record_json.hpp"
#include "store/stored_outcome.hpp"

namespace fatune {
namespace {

template <typename Value>
Value read_column(const Statement& row, int column) {
  return read_record<Value>(parse_record(row.text(column)));
}

/// Columns from `first` on: batch, seq_len, heads, d_head, dtype, causal.
Problem read_problem(const Statement& row, int first) {
  return {row.integer(first),
          row.integer(first + 1),
          row.integer(first + 2),
          row.integer(first + 3),
          static_cast<DType>(row.integer(first + 4)),
          row.flag(first + 5)};
}

const char* const kProblemColumns = "p.batch, p.seq_len, p.heads, p.d_head, p.dtype, p.causal";

std::optional<StoredRun> load_header(Database& database, std::int64_t run_id) {
  Statement row = database.prepare(
      "SELECT r.command_line, r.started_at, r.wall_s, r.complete, r.space, r.family, r.baseline, "
      "d.limits, r.free_memory_bytes, r.policy, r.toolchain "
      "FROM runs r JOIN devices d ON d.id = r.device WHERE r.id = ?");
  row.bind(run_id);
  if (!row.step()) {
    return std::nullopt;
  }
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
  return run;
}

const char* const kEntryColumns =
    "SELECT c.config, c.short_form, c.kernel_name, c.parameters, a.facts, a.key, "
    "o.dynamic_smem_bytes, o.threads_per_block, o.blocks_per_sm, o.compile_ms, o.from_cache, "
    "o.total_flop, o.rank, o.tie_group, o.relative_percent, o.source, o.id, o.outcome, o.digest "
    "FROM outcomes o JOIN configurations c ON c.id = o.configuration "
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
  entry.outcome = read_entry_outcome(database, row);
  return entry;
}

void load_entries(Database& database, std::int64_t run_problem, StoredProblem& problem) {
  Statement rows = database.prepare(kEntryColumns);
  rows.bind(run_problem);
  while (rows.step()) {
    Entry entry = read_entry(database, rows);
    const bool failed = problem.ranked && entry.rank == 0;
    (failed ? problem.report.failures : problem.report.ranking).push_back(std::move(entry));
  }
}

void load_problems(Database& database, std::int64_t run_id, StoredRun& run) {
  Statement rows = database.prepare(
      fmt::format("SELECT {}, rp.repetition, rp.pruned, rp.invalid, rp.ranked, rp.id "
                  "FROM run_problems rp JOIN problems p ON p.id = rp.problem "
                  "WHERE rp.run = ? ORDER BY rp.id",
                  kProblemColumns));
  rows.bind(run_id);
  while (rows.step()) {
    StoredProblem& problem = run.problems.emplace_back();
    problem.report.problem = read_problem(rows, 0);
    problem.report.run = rows.small_integer(6);
    problem.report.pruned = rows.integer(7);
    problem.report.invalid = rows.integer(8);
    problem.ranked = rows.flag(9);
    load_entries(database, rows.integer(10), problem);
  }
}

double flop_per_us(const RunBest& best) { return literature_flop(best.problem) / best.time_us; }

/// min() takes the other columns from the row that it finds: a documented property of SQLite.
std::optional<RunBest> best_of(Database& database, std::int64_t run_id) {
  Statement rows = database.prepare(
      fmt::format("SELECT {}, c.short_form, min(o.time_us) FROM run_problems rp "
                  "JOIN problems p ON p.id = rp.problem JOIN outcomes o ON o.run_problem = rp.id "
                  "JOIN configurations c ON c.id = o.configuration "
                  "WHERE rp.run = ? AND o.time_us > 0 GROUP BY rp.id",
                  kProblemColumns));
  rows.bind(run_id);
  std::optional<RunBest> best;
  while (rows.step()) {
    RunBest candidate{read_problem(rows, 0), rows.text(6), rows.real(7)};
    if (!best || flop_per_us(candidate) > flop_per_us(*best)) {
      best = std::move(candidate);
    }
  }
  return best;
}

}  // namespace

std::vector<RunSummary> list_runs(Database& database) {
  Statement rows = database.prepare(
      "SELECT r.id, r.started_at, d.name, r.command_line, r.complete, "
      "(SELECT count(*) FROM run_problems rp WHERE rp.run = r.id), "
      "(SELECT count(*) FROM outcomes o JOIN run_problems rp ON rp.id = o.run_problem "
      " WHERE rp.run = r.id), "
      "(SELECT count(o.source) FROM outcomes o JOIN run_problems rp ON rp.id = o.run_problem "
      " WHERE rp.run = r.id) "
      "FROM runs r JOIN devices d ON d.id = r.device ORDER BY r.id DESC");
  std::vector<RunSummary> runs;
  while (rows.step()) {
    runs.push_back({rows.integer(0), rows.text(1), rows.text(2), rows.text(3), rows.flag(4),
                    rows.integer(5), rows.integer(6), rows.integer(7),
                    best_of(database, rows.integer(0))});
  }
  return runs;
}

std::optional<StoredRun> load_run(Database& database, std::int64_t run_id) {
  try {
    std::optional<StoredRun> run = load_header(database, run_id);
    if (run) {
      load_problems(database, run_id, *run);
    }
    return run;
  } catch (const Error& error) {
    if (error.where() == database.path().string()) {
      throw;
    }
    throw Error(
        error.code(),
        fmt::format("run {} cannot be read: {} {}", run_id, error.what_was_wrong(), error.where()),
        database.path().string(), "other runs may be readable: see 'fatune history'");
  }
}

std::optional<std::int64_t> last_run(Database& database) {
  Statement row = database.prepare("SELECT max(id) FROM runs");
  return row.step() && !row.is_null(0) ? std::optional(row.integer(0)) : std::nullopt;
}

}  // namespace fatune
