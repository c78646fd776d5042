// Written data is read back unchanged.
#include "store/run_reader.hpp"

#include "base/error.hpp"
#include "model/record_json.hpp"
#include "unit/store/run_samples.hpp"
#include "unit/store/store_folder.hpp"

namespace fatune {
namespace {

std::vector<Outcome> one_of_each() {
  return {Pruned{"rule", "reason"},
          Invalid{"rule", "reason"},
          CompileFailed{"x.cu(1): error: no\nsecond line"},
          CompilerCrashed{"signal 11", "the compiler crashed: signal 11"},
          Serialized{"C7512: why"},
          Unlaunchable{"needs 300000 bytes"},
          Crashed{"CUDA_ERROR_ILLEGAL_ADDRESS: an illegal access"},
          TimedOut{1000.25},
          WrongResult{sample_measurement(1.0).verification, "0.5 is more than 0.1"},
          Implausible{3.5, 40.25, "a reason"},
          Flagged{sample_measurement(1.0).verification, "race: a write at ptx line 7"},
          Estimated{12.5, {{"tensor", 1.0 / 3.0}}},
          sample_measurement(100.0 / 3.0)};
}

class RunStore : public StoreFolder {
 protected:
  Database database_ = open();
  RunWriter writer_{database_, sample_run()};

  [[nodiscard]] StoredRun load() { return load_run(database_, writer_.run_id()).value(); }
};

TEST_F(RunStore, TheHeaderComesBack) {
  RunReport end = run_end(12.75, true);
  end.busy_s = 21.5;
  end.gpus = 2;
  writer_.end_run(end);
  const StoredRun stored = load();
  const NewRun run = sample_run();
  EXPECT_EQ(stored.header.command_line, run.header.command_line);
  EXPECT_EQ(stored.header.started_at, run.header.started_at);
  EXPECT_EQ(stored.header.wall_s, 12.75);
  EXPECT_EQ(stored.header.busy_s, 21.5);
  EXPECT_EQ(stored.header.gpus, 2);
  EXPECT_TRUE(stored.header.measured);
  EXPECT_TRUE(stored.header.complete);
  EXPECT_EQ(stored.header.space, "tune");
  EXPECT_EQ(stored.header.family, "toy");
  EXPECT_EQ(stored.baseline, run.baseline);
  EXPECT_EQ(record_json(stored.header.device), record_json(run.header.device));
  EXPECT_EQ(record_json(stored.header.policy), record_json(run.header.policy));
  EXPECT_EQ(record_json(stored.header.toolchain), record_json(run.header.toolchain));
  EXPECT_EQ(stored.header.source_hashes, run.header.source_hashes);
}

TEST_F(RunStore, EveryOutcomeComesBack) {
  const std::vector<Outcome> outcomes = one_of_each();
  ASSERT_EQ(outcomes.size(), std::variant_size_v<Outcome>);
  writer_.begin_problem(sample_problem());
  for (const Outcome& outcome : outcomes) {
    writer_.add(sample_result(static_cast<int>(outcome.index()), outcome), tried());
  }
  const StoredRun stored = load();
  const auto& results = stored.problems.at(0).report.ranking;
  ASSERT_EQ(results.size(), outcomes.size());
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    EXPECT_EQ(record_json(results[i].outcome), record_json(outcomes[i])) << i;
  }
}

TEST_F(RunStore, AResultComesBackWhole) {
  ProblemReport problem = sample_problem();
  writer_.begin_problem(problem);
  problem.ranking = {sample_result(1, sample_measurement(100.0))};
  writer_.add(problem.ranking[0], tried());
  problem.ranking[0].rank = 1;
  problem.ranking[0].tie_group = 2;
  problem.ranking[0].relative_percent = 100.0 / 3.0;
  writer_.end_problem(problem, true);
  const Result& before = problem.ranking[0];
  const StoredRun stored = load();
  ASSERT_TRUE(stored.problems.at(0).ranked);
  const Result& after = stored.problems[0].report.ranking.at(0);
  EXPECT_EQ(after.config, before.config);
  EXPECT_EQ(after.short_form, before.short_form);
  EXPECT_EQ(after.kernel_name, before.kernel_name);
  ASSERT_EQ(after.parameters.size(), 2U);
  EXPECT_EQ(after.parameters[1].name + "=" + after.parameters[1].text, "rows=1");
  EXPECT_EQ(record_json(*after.facts), record_json(*before.facts));
  EXPECT_EQ(after.dynamic_smem_bytes, before.dynamic_smem_bytes);
  EXPECT_EQ(after.threads_per_block, before.threads_per_block);
  EXPECT_EQ(after.blocks_per_sm, before.blocks_per_sm);
  EXPECT_EQ(after.compile_ms, before.compile_ms);
  EXPECT_EQ(after.from_cache, before.from_cache);
  EXPECT_EQ(after.artifact_key, before.artifact_key);
  EXPECT_EQ(after.total_flop, before.total_flop);
  EXPECT_EQ(after.rank, 1);
  EXPECT_EQ(after.tie_group, 2);
  EXPECT_EQ(after.relative_percent, before.relative_percent);
  EXPECT_FALSE(after.reused);
  EXPECT_EQ(record_json(after), record_json(before));  // covers members that are added later
}

TEST_F(RunStore, ProblemsAndTheirOrderComeBack) {
  for (const std::int64_t seq_len : {512, 1024}) {
    ProblemReport problem = sample_problem(seq_len);
    writer_.begin_problem(problem);
    writer_.add(sample_result(1, sample_measurement(200.0)), tried());
    writer_.add(sample_result(2, Crashed{"no"}), tried());
    writer_.add(sample_result(3, sample_measurement(100.0)), tried());
    problem.ranking = {sample_result(3, sample_measurement(100.0)),
                       sample_result(1, sample_measurement(200.0))};
    problem.ranking[0].rank = 1;
    problem.ranking[1].rank = 2;
    problem.failures = {sample_result(2, Crashed{"no"})};
    writer_.end_problem(problem, true);
  }
  const StoredRun stored = load();
  ASSERT_EQ(stored.problems.size(), 2U);
  const ProblemReport& second = stored.problems[1].report;
  EXPECT_EQ(second.problem, sample_problem(1024).problem);
  EXPECT_EQ(second.run, 2);
  EXPECT_EQ(second.pruned, 3);
  EXPECT_EQ(second.invalid, 4);
  ASSERT_EQ(second.ranking.size(), 2U);
  EXPECT_EQ(second.ranking[0].config, sample_result(3, Crashed{}).config);
  ASSERT_EQ(second.failures.size(), 1U);
}

TEST_F(RunStore, AReusedOutcomeHasItsSamples) {
  writer_.begin_problem(sample_problem());
  writer_.add(sample_result(1, sample_measurement(100.0)), tried());
  const std::int64_t source = database_.value("SELECT max(id) FROM outcomes");
  RunWriter second(database_, sample_run());
  second.begin_problem(sample_problem());
  OutcomeOrigin origin = tried();
  origin.source = source;
  second.add(sample_result(1, sample_measurement(100.0)), origin);
  const StoredRun stored = load_run(database_, second.run_id()).value();
  const Result& result = stored.problems.at(0).report.ranking.at(0);
  EXPECT_TRUE(result.reused);
  EXPECT_EQ(std::get<Measured>(result.outcome).timing.samples_us,
            sample_measurement(100.0).timing.samples_us);
  EXPECT_EQ(database_.value("SELECT count(*) FROM samples"), 3);
}

TEST_F(RunStore, WhatCannotBeReadIsNamed) {
  writer_.begin_problem(sample_problem());
  writer_.add(sample_result(1, sample_measurement(100.0)), tried());
  for (const char* damage :
       {"runs SET header = json_set(header, '$.policy.repeats', 'x')", "runs SET header = '{'",
        "runs SET baseline = 'x'", "run_problems SET problem = ''", "run_problems SET report = '['",
        "outcomes SET result = json_remove(result, '$.config')",
        "samples SET us = -1 WHERE number = 2"}) {
    SCOPED_TRACE(damage);
    const Transaction rolled_back(database_);
    database_.execute("UPDATE " + std::string(damage));
    expect_store_error([&] { (void)load(); }, ExitCode::bad_file,
                       {path_.string(), "run 1 cannot be read"});
  }
}

TEST_F(RunStore, ARunThatIsNotThere) {
  EXPECT_FALSE(load_run(database_, 77));
  EXPECT_EQ(last_run(database_), writer_.run_id());
}

TEST_F(RunStore, TheListHasTheLatestFirstAndItsBest) {
  writer_.begin_problem(sample_problem(512));
  writer_.add(sample_result(1, sample_measurement(100.0)), tried());
  writer_.add(sample_result(2, sample_measurement(50.0)), tried());
  writer_.begin_problem(sample_problem(1024));
  writer_.add(sample_result(1, sample_measurement(150.0)), tried());
  writer_.end_run(run_end(1.0, true));
  const RunWriter second(database_, sample_run());
  const std::vector<RunSummary> runs = list_runs(database_).runs;
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].id, second.run_id());
  EXPECT_FALSE(runs[0].complete);
  EXPECT_FALSE(runs[0].best);
  EXPECT_TRUE(runs[1].complete);
  EXPECT_EQ(runs[1].device, "Test GPU");
  EXPECT_EQ(runs[1].problems, 2);
  EXPECT_EQ(runs[1].outcomes, 3);
  ASSERT_TRUE(runs[1].best);
  EXPECT_EQ(runs[1].best->problem.seq_len, 1024);  // four times the FLOP in three times the time
  EXPECT_EQ(runs[1].best->time_us, 150.0);
}

RunReport report_that_ended() {
  RunReport run = sample_run().header;
  run.complete = true;
  run.wall_s = 3.5;
  ProblemReport problem = sample_problem();
  problem.ranking = {sample_result(1, sample_measurement(100.0))};
  problem.ranking.front().rank = 1;
  problem.failures = {sample_result(2, TimedOut{5.0})};
  problem.audited = {sample_result(3, sample_measurement(300.0))};
  problem.audited.front().pruned_by = "rule";
  run.problems = {problem, sample_problem(1024)};
  return run;
}

TEST_F(RunStore, WholeRunsComeBackWhole) {
  RunReport other = report_that_ended();
  other.source_hashes.clear();
  other.complete = false;
  const std::vector<std::int64_t> numbers = store_runs(database_, {report_that_ended(), other});
  ASSERT_EQ(numbers.size(), 2U);
  for (const std::int64_t number : numbers) {
    const StoredRun run = load_run(database_, number).value();
    EXPECT_EQ(run.header.complete, number == numbers[0]);
    EXPECT_EQ(run.header.wall_s, 3.5);
    ASSERT_EQ(run.problems.size(), 2U);
    const ProblemReport& problem = run.problems[0].report;
    const ProblemReport expected = report_that_ended().problems[0];
    EXPECT_TRUE(run.problems[0].ranked);
    EXPECT_EQ(record_json(problem.ranking.at(0)), record_json(expected.ranking[0]));
    EXPECT_EQ(record_json(problem.failures.at(0)), record_json(expected.failures[0]));
    EXPECT_EQ(record_json(problem.audited.at(0)), record_json(expected.audited[0]));
  }
}

TEST_F(RunStore, WholeRunsAreAllStoredOrNone) {
  database_.execute(
      "CREATE TEMP TRIGGER fourth BEFORE INSERT ON run_problems "
      "WHEN (SELECT count(*) FROM run_problems) = 3 BEGIN SELECT RAISE(ABORT, 'no more'); END");
  EXPECT_THROW(static_cast<void>(store_runs(database_, {report_that_ended(), report_that_ended()})),
               Error);
  EXPECT_EQ(database_.value("SELECT count(*) FROM runs"), 1) << "the fixture's";
  EXPECT_EQ(database_.value("SELECT count(*) FROM run_problems"), 0);
}

}  // namespace
}  // namespace fatune
