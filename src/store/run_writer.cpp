#include "store/run_writer.hpp"

#include <random>
#include <utility>

#include "base/ranges.hpp"
#include "store/run_reader.hpp"

namespace fatune {
namespace {

std::string random_uid() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

std::int64_t insert_run(Database& database, const NewRun& run, const RunReport& header) {
  return insert(
      database, "runs", Column{"anew", run.anew}, Column{"conditions", run.identity.conditions},
      Column{"plan", run.identity.plan},
      Column{"baseline", run.baseline ? std::optional(column_text(*run.baseline)) : std::nullopt},
      Column{"header", column_text(header)});
}

/// Returns an empty text if the hash is not known, as for results of another program.
std::string source_hash_of(const RunReport& run, const std::string& family) {
  const auto found = run.source_hashes.find(family);
  return found == run.source_hashes.end() ? std::string() : found->second;
}

/// The conditions and plan of imported runs. fatune's own runs have hashes there.
constexpr const char* kImported = "imported";

void write_problem(RunWriter& writer, const ProblemReport& problem) {
  writer.begin_problem(problem);
  for (const auto* results : {&problem.ranking, &problem.failures, &problem.audited}) {
    for (const Result& result : *results) {
      writer.add(result, {});
    }
  }
  writer.end_problem(problem, true);
}

std::int64_t write_run(Database& database, const RunReport& run) {
  RunReport header = run;
  header.problems.clear();
  RunWriter writer(database, {std::move(header), {kImported, kImported}, std::nullopt});
  for (const ProblemReport& problem : run.problems) {
    write_problem(writer, problem);
  }
  writer.end_run(run);
  return writer.run_id();
}

}  // namespace

RunWriter::RunWriter(Database& database, const NewRun& run)
    : database_(database), header_(run.header) {
  header_.uid = random_uid();
  run_id_ = insert_run(database_, run, header_);
}

void RunWriter::begin_problem(const ProblemReport& problem) {
  problem_id_ =
      insert(database_, "run_problems", Column{"run", run_id_},
             Column{"problem", column_text(problem.problem)}, Column{"repetition", problem.run},
             Column{"report", column_text(without_results(problem))});
  outcomes_.clear();
}

void RunWriter::add(const Result& result, const OutcomeOrigin& origin) {
  Transaction transaction(database_);
  const std::int64_t id = insert(
      database_, "outcomes", Column{"run_problem", problem_id_}, Column{"source", origin.source},
      Column{"artifact_key", result.facts ? std::optional(result.artifact_key) : std::nullopt},
      Column{"launch", launch_column(origin.launch)}, Column{"tried", origin.tried},
      Column{"kind", std::string(outcome_name(result.outcome))},
      Column{"time_us",
             is_ranked(result.outcome) ? std::optional(ranked_us(result.outcome)) : std::nullopt},
      Column{"audited", !result.pruned_by.empty()}, Column{"code_hash", origin.code_hash},
      Column{"source_hash", source_hash_of(header_, result.config.family)},
      Column{"result", result_column(result)});
  if (!origin.source) {
    save_samples(database_, id, samples_of(result));
  }
  transaction.commit();
  outcomes_[column_text(result.config)] = id;
}

void RunWriter::place(const std::vector<Result>& results) {
  Statement update = database_.prepare("UPDATE outcomes SET place = ?, result = ? WHERE id = ?");
  int place = 0;
  for (const Result& result : results) {
    ++place;
    if (const auto found = outcomes_.find(column_text(result.config)); found != outcomes_.end()) {
      update.bind(place, result_column(result), found->second).run();
    }
  }
}

void RunWriter::end_problem(const ProblemReport& problem, bool finished) {
  Transaction transaction(database_);
  place(problem.ranking);
  place(problem.failures);
  place(problem.audited);
  database_.prepare("UPDATE run_problems SET ranked = 1, finished = ?, report = ? WHERE id = ?")
      .bind(finished, column_text(without_results(problem)), problem_id_)
      .run();
  transaction.commit();
}

void RunWriter::repeat_outcomes(std::int64_t source) {
  constexpr const char* kSame =
      "artifact_key, launch, tried, kind, time_us, audited, code_hash, source_hash, place, result";
  database_
      .prepare(fmt::format("INSERT INTO outcomes (run_problem, source, {0}) SELECT ?, "
                           "coalesce(source, id), {0} FROM outcomes WHERE run_problem = ? "
                           "ORDER BY id",
                           kSame))
      .bind(problem_id_, source)
      .run();
}

void RunWriter::repeat_problem(std::int64_t source) {
  Transaction transaction(database_);
  repeat_outcomes(source);
  database_
      .prepare(
          "UPDATE run_problems SET (ranked, finished, report) = "
          "(SELECT ranked, finished, report FROM run_problems WHERE id = ?) WHERE id = ?")
      .bind(source, problem_id_)
      .run();
  transaction.commit();
}

void RunWriter::end_run(const RunReport& report) {
  header_.wall_s = report.wall_s;
  header_.busy_s = report.busy_s;
  header_.gpus = report.gpus;
  header_.disturbances = report.disturbances;
  database_.prepare("UPDATE runs SET header = ?, complete = ? WHERE id = ?")
      .bind(column_text(header_), report.complete, run_id_)
      .run();
}

std::vector<std::int64_t> store_runs(Database& database, const std::vector<RunReport>& runs) {
  Transaction transaction(database);
  auto numbers = mapped(runs, [&](const RunReport& run) { return write_run(database, run); });
  transaction.commit();
  return numbers;
}

}  // namespace fatune
