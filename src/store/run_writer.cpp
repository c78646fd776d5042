#include "store/run_writer.hpp"

#include "core/error.hpp"
#include "record/record_json.hpp"
#include "store/problem_columns.hpp"
#include "store/problem_details.hpp"
#include "store/seal.hpp"
#include "store/stored_outcome.hpp"

namespace fatune {
namespace {

/// Inserts a row unless there is the same one, and returns its id. `columns` as "a, b",
/// `condition` as "a = ? AND b = ?".
template <typename... Values>
std::int64_t find_or_insert(Database& database, const std::string& table,
                            const std::string& columns, const std::string& condition,
                            const std::string& marks, const Values&... values) {
  database.prepare("INSERT OR IGNORE INTO " + table + " (" + columns + ") VALUES (" + marks + ")")
      .bind(values...)
      .run();
  Statement found = database.prepare("SELECT id FROM " + table + " WHERE " + condition);
  found.bind(values...);
  if (!found.step()) {
    database.fail_damaged("a row of " + table + " is gone");
  }
  return found.integer(0);
}

std::int64_t device_id(Database& database, DeviceLimits limits) {
  limits.free_memory_bytes = 0;  // the run's, not the device's
  return find_or_insert(database, "devices", "uuid, name, limits",
                        "uuid = ? AND name = ? AND limits = ?", "?, ?, ?", limits.uuid, limits.name,
                        record_text(record_json(limits)));
}

std::int64_t problem_id(Database& database, const Problem& p) {
  return find_or_insert(database, "problems", "batch, seq_len, heads, d_head, dtype, causal",
                        "batch = ? AND seq_len = ? AND heads = ? AND d_head = ? AND dtype = ? AND "
                        "causal = ?",
                        "?, ?, ?, ?, ?, ?", p.batch, p.seq_len, p.heads, p.d_head,
                        static_cast<int>(p.dtype), p.causal);
}

std::int64_t insert_run(Database& database, const NewRun& run) {
  const RunReport& header = run.header;
  const std::optional<std::string> baseline =
      run.baseline ? std::optional(config_column(*run.baseline)) : std::nullopt;
  database
      .prepare(
          "INSERT INTO runs (command_line, started_at, wall_s, anew, space, family, baseline, "
          "device, free_memory_bytes, policy, toolchain, conditions, plan, gpus) "
          "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(header.command_line, header.started_at, header.wall_s, run.anew, header.space,
            header.family, baseline, device_id(database, header.device),
            header.device.free_memory_bytes, record_text(record_json(header.policy)),
            record_text(record_json(header.toolchain)), run.identity.conditions, run.identity.plan,
            header.gpus)
      .run();
  return database.last_id();
}

std::optional<double> time_of(const Outcome& outcome) {
  return is_ranked(outcome) ? std::optional(ranked_us(outcome)) : std::nullopt;
}

}  // namespace

RunWriter::RunWriter(Database& database, const NewRun& run)
    : database_(database), source_hashes_(run.source_hashes) {
  Transaction transaction(database_);
  run_id_ = insert_run(database_, run);
  seal_run(database_, run_id_);
  transaction.commit();
}

void RunWriter::begin_problem(const ProblemReport& problem) {
  Transaction transaction(database_);
  database_
      .prepare(
          "INSERT INTO run_problems (run, problem, repetition, pruned, invalid, problem_details) "
          "VALUES (?, ?, ?, ?, ?, ?)")
      .bind(run_id_, problem_id(database_, problem.problem), problem.run, problem.pruned,
            problem.invalid, details_text(problem.problem))
      .run();
  problem_id_ = database_.last_id();
  seal_problem(database_, problem_id_);
  seal_run(database_, run_id_);
  transaction.commit();
}

std::int64_t RunWriter::configuration_id(const Entry& entry) {
  return find_or_insert(
      database_, "configurations",
      "family, short_form, source_hash, kernel_name, config, parameters",
      "family = ? AND short_form = ? AND source_hash = ? AND kernel_name = ? AND config = ? AND "
      "parameters = ?",
      "?, ?, ?, ?, ?, ?", entry.config.family, entry.short_form,
      source_hashes_.at(entry.config.family), entry.kernel_name, config_column(entry.config),
      parameters_column(entry.parameters));
}

std::optional<std::int64_t> RunWriter::artifact_id(const Entry& entry,
                                                   const std::string& code_hash) {
  if (!entry.facts) {
    return std::nullopt;
  }
  return find_or_insert(database_, "artifacts", "key, code_hash, facts",
                        "key = ? AND code_hash = ? AND facts = ?", "?, ?, ?", entry.artifact_key,
                        code_hash, record_text(record_json(*entry.facts)));
}

void RunWriter::add(const Entry& entry, const OutcomeOrigin& origin) {
  const OutcomeColumns columns = outcome_columns(entry.outcome);
  Transaction transaction(database_);
  database_
      .prepare(
          "INSERT INTO outcomes (run_problem, configuration, artifact, launch, tried, source, "
          "kind, time_us, outcome, digest, dynamic_smem_bytes, threads_per_block, "
          "blocks_per_sm, compile_ms, from_cache, total_flop, same_code_as, pruned_by) "
          "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(problem_id_, configuration_id(entry), artifact_id(entry, origin.code_hash),
            launch_column(origin.launch), origin.tried, origin.source,
            std::string(outcome_name(entry.outcome)), time_of(entry.outcome), columns.text,
            columns.digest, entry.dynamic_smem_bytes, entry.threads_per_block, entry.blocks_per_sm,
            entry.compile_ms, entry.from_cache, entry.total_flop, entry.same_code_as,
            entry.pruned_by)
      .run();
  const std::int64_t id = database_.last_id();
  seal_outcome(database_, id);
  if (!origin.source) {
    save_samples(database_, id, columns.samples_us);
  }
  transaction.commit();
}

void RunWriter::place(const std::vector<Entry>& entries) {
  Statement update = database_.prepare(
      "UPDATE outcomes SET rank = ?, tie_group = ?, relative_percent = ?, place = ? "
      "WHERE run_problem = ? AND configuration = ?");
  int place = 0;
  for (const Entry& entry : entries) {
    update
        .bind(entry.rank, entry.tie_group, entry.relative_percent, ++place, problem_id_,
              configuration_id(entry))
        .run();
  }
}

void RunWriter::end_problem(const ProblemReport& problem, bool finished) {
  Transaction transaction(database_);
  place(problem.ranking);
  place(problem.failures);
  place(problem.audited);
  database_.prepare("UPDATE run_problems SET ranked = 1, finished = ?, details = ? WHERE id = ?")
      .bind(finished, details_column(problem), problem_id_)
      .run();
  seal_problem(database_, problem_id_);
  transaction.commit();
}

void RunWriter::repeat_outcomes(std::int64_t source) {
  database_
      .prepare(
          "INSERT INTO outcomes (run_problem, source, configuration, artifact, launch, tried, "
          "kind, time_us, outcome, digest, dynamic_smem_bytes, threads_per_block, "
          "blocks_per_sm, compile_ms, from_cache, total_flop, same_code_as, pruned_by, rank, "
          "tie_group, relative_percent, place) "
          "SELECT ?, coalesce(source, id), configuration, artifact, launch, tried, "
          "kind, time_us, outcome, digest, dynamic_smem_bytes, threads_per_block, "
          "blocks_per_sm, compile_ms, from_cache, total_flop, same_code_as, pruned_by, rank, "
          "tie_group, relative_percent, place FROM outcomes WHERE run_problem = ? ORDER BY id")
      .bind(problem_id_, source)
      .run();
  Statement ids = database_.prepare("SELECT id FROM outcomes WHERE run_problem = ?");
  ids.bind(problem_id_);
  while (ids.step()) {
    seal_outcome(database_, ids.integer(0));
  }
}

void RunWriter::repeat_problem(std::int64_t source) {
  Transaction transaction(database_);
  repeat_outcomes(source);
  database_
      .prepare(
          "UPDATE run_problems SET (pruned, invalid, ranked, finished, details) = "
          "(SELECT pruned, invalid, ranked, finished, details FROM run_problems WHERE id = ?) "
          "WHERE id = ?")
      .bind(source, problem_id_)
      .run();
  seal_problem(database_, problem_id_);
  transaction.commit();
}

void RunWriter::end_run(const RunReport& report) {
  Transaction transaction(database_);
  database_.prepare("UPDATE runs SET wall_s = ?, busy_s = ?, gpus = ?, complete = ? WHERE id = ?")
      .bind(report.wall_s, report.busy_s, report.gpus, report.complete, run_id_)
      .run();
  seal_run(database_, run_id_);
  transaction.commit();
}

}  // namespace fatune
