// A problem that an interrupted run has finished is recalled as a whole.
#include "model/record_json.hpp"
#include "store/recall.hpp"
#include "unit/store/run_samples.hpp"
#include "unit/store/store_folder.hpp"

namespace fatune {
namespace {

ProblemReport ranked_problem() {
  ProblemReport report = sample_problem();
  report.ranking = {sample_result(3, sample_measurement(50.0)),
                    sample_result(1, sample_measurement(100.0))};
  for (int i = 0; i < 2; ++i) {
    Result& result = report.ranking[static_cast<std::size_t>(i)];
    result.rank = i + 1;
    result.tie_group = 1;
    result.relative_percent = 100.0 / (i + 1);
  }
  report.ranking[1].same_code_as = report.ranking[0].short_form;
  report.failures = {sample_result(2, Crashed{"no"})};
  report.audited = {sample_result(4, sample_measurement(25.0))};
  report.audited[0].pruned_by = "rule-1";
  report.device_uuid = "GPU-2";
  report.measuring = MeasuringSummary{
      StopReason::target, 30, 16, 812, 7, "(FP16, 1): fast", 0.1, 2.5, {"a round was off"}};
  report.conditions = GpuConditions{9, 1200.0, 1900.0, 1980.0, 500.5, 700.0, 71.0, {"power cap"}};
  report.matmul = MatmulRate{812.5, 1755.0};
  report.memory = MemoryRate{3100.0};
  report.audit = {RuleAudit{"rule-1", 12, 1, 3.5, 0.25, "(FP16, 4): fast", -2.0}};
  return report;
}

void add(RunWriter& writer, const std::vector<Result>& results) {
  for (Result result : results) {
    result.rank = 0;
    writer.add(result, tried());
  }
}

/// Stores a run with one problem, in this state. Returns its row in run_problems.
std::int64_t store_problem(Database& database, bool finished, bool complete = false) {
  RunWriter writer(database, sample_run());
  const ProblemReport report = ranked_problem();
  writer.begin_problem(report);
  add(writer, report.failures);
  add(writer, {report.ranking[1], report.ranking[0]});
  add(writer, report.audited);
  writer.end_problem(report, finished);
  if (complete) {
    writer.end_run(run_end(1.0, true));
  }
  return writer.run_problem();
}

void expect_same(const std::vector<Result>& after, const std::vector<Result>& before) {
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < after.size(); ++i) {
    EXPECT_EQ(after[i].short_form, before[i].short_form);
    EXPECT_EQ(after[i].same_code_as, before[i].same_code_as);
    EXPECT_EQ(after[i].pruned_by, before[i].pruned_by);
    EXPECT_EQ(after[i].rank, before[i].rank);
    EXPECT_EQ(after[i].tie_group, before[i].tie_group);
    EXPECT_EQ(after[i].relative_percent, before[i].relative_percent);
    EXPECT_EQ(record_json(after[i].outcome), record_json(before[i].outcome));
  }
}

void expect_same(const ProblemReport& after, const ProblemReport& before) {
  EXPECT_EQ(after.problem, before.problem);
  EXPECT_EQ(after.run, before.run);
  EXPECT_EQ(after.pruned, before.pruned);
  EXPECT_EQ(after.invalid, before.invalid);
  EXPECT_EQ(after.device_uuid, before.device_uuid);
  EXPECT_EQ(record_json(after.measuring.value()), record_json(before.measuring.value()));
  EXPECT_EQ(record_json(after.conditions.value()), record_json(before.conditions.value()));
  EXPECT_EQ(record_json(after.matmul.value()), record_json(before.matmul.value()));
  EXPECT_EQ(record_json(after.memory.value()), record_json(before.memory.value()));
  ASSERT_EQ(after.audit.size(), before.audit.size());
  EXPECT_EQ(record_json(after.audit[0]), record_json(before.audit[0]));
  expect_same(after.ranking, before.ranking);
  expect_same(after.failures, before.failures);
  expect_same(after.audited, before.audited);
}

class RecallProblem : public StoreFolder {
 protected:
  [[nodiscard]] std::optional<StoredProblem> recalled(int repetition = 2) {
    return recall_problem({database_, sample_run().identity, kNewRun}, sample_problem().problem,
                          repetition);
  }
  /// Stores a run that takes the problem over from `source`. Returns its row in run_problems.
  std::int64_t repeat(std::int64_t source) {
    RunWriter writer(database_, sample_run());
    writer.begin_problem(sample_problem());
    writer.repeat_problem(source);
    return writer.run_problem();
  }
  [[nodiscard]] std::int64_t count(const std::string& what) {
    return database_.value("SELECT count(*) FROM " + what);
  }

  static constexpr std::int64_t kNewRun = 1000;
  Database database_ = open();
};

TEST_F(RecallProblem, TheWholeReportComesBack) {
  const std::int64_t stored = store_problem(database_, true);
  const auto found = recalled();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->id, stored);
  EXPECT_TRUE(found->ranked);
  expect_same(found->report, ranked_problem());
}

TEST_F(RecallProblem, OneThatWasInterruptedIsNotFinished) {
  store_problem(database_, false);
  EXPECT_FALSE(recalled());
}

TEST_F(RecallProblem, NeitherIsOneOfACompleteRunOrAnotherRepetition) {
  store_problem(database_, true, true);
  EXPECT_FALSE(recalled());
  store_problem(database_, true);
  EXPECT_FALSE(recalled(1));
  EXPECT_TRUE(recalled(2));
}

TEST_F(RecallProblem, ARepeatedProblemIsTheSameAndHasTheSamplesOfItsSource) {
  const std::int64_t source = store_problem(database_, true);
  const std::int64_t samples = count("samples");
  const StoredProblem repeated = load_problem(database_, repeat(source));
  expect_same(repeated.report, ranked_problem());
  for (const auto* list :
       {&repeated.report.ranking, &repeated.report.failures, &repeated.report.audited}) {
    for (const Result& result : *list) {
      EXPECT_TRUE(result.reused) << result.short_form;
    }
  }
  EXPECT_EQ(count("samples"), samples);
}

TEST_F(RecallProblem, ARepeatedOneIsTakenOverAgain) {
  const std::int64_t second = repeat(store_problem(database_, true));
  const auto found = recalled();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->id, second);
  const StoredProblem third = load_problem(database_, repeat(second));
  expect_same(third.report, ranked_problem());
  EXPECT_EQ(count("outcomes WHERE source > 4"), 0);  // all refer to the measured ones
}

TEST_F(RecallProblem, AnAuditedOneIsNotTheBestOfItsRun) {
  store_problem(database_, true);
  const std::vector<RunSummary> runs = list_runs(database_).runs;
  ASSERT_TRUE(runs.at(0).best);
  EXPECT_EQ(runs[0].best->time_us, 50.0);
}

TEST_F(RecallProblem, WhatCannotBeReadIsNotTakenOver) {
  const std::int64_t stored = store_problem(database_, true);
  for (const char* damage :
       {"outcomes SET result = json_remove(result, '$.config') WHERE place = 1",
        "outcomes SET result = json_set(result, '$.rank', 'x') WHERE place = 1",
        "samples SET us = -1 WHERE number = 2",
        "run_problems SET report = json_set(report, '$.pruned', 'x')"}) {
    SCOPED_TRACE(damage);
    const Transaction rolled_back(database_);
    database_.execute("UPDATE " + std::string(damage));
    EXPECT_FALSE(recalled());
    EXPECT_THROW((void)load_problem(database_, stored), Error);
  }
  EXPECT_TRUE(recalled());
}

}  // namespace
}  // namespace fatune
