#include "race/comparison.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "study_samples.hpp"

namespace fatune {
namespace {

constexpr double kOldUs = 100.0;
constexpr std::size_t kConfigs = 20;
constexpr int kTied = 1;
constexpr ComparePolicy kTwoPercent{.tolerance_percent = 2.0};

std::string name_of(std::size_t number) { return "configuration " + std::to_string(number); }

/// A result with a spread as of 28 samples, whose median is known to 0.2 %.
Result compared_result(std::size_t number, double us) {
  Result result = study_result(us);
  result.short_form = name_of(number);
  result.rank = static_cast<int>(number) + 1;
  result.tie_group = result.rank;
  Timing& timing = std::get<Measured>(result.outcome).timing;
  timing.median_low_us = us * 0.998;
  timing.median_high_us = us * 1.002;
  timing.stddev_us = us * 0.005;
  return result;
}

/// A run of one problem. Its configurations take 100 us, 101 us, ..., each times its factor.
ComparedRun run_of(const std::function<double(std::size_t)>& factor,
                   std::size_t configs = kConfigs) {
  std::vector<Result> ranking;
  for (std::size_t i = 0; i < configs; ++i) {
    ranking.push_back(compared_result(i, (kOldUs + static_cast<double>(i)) * factor(i)));
  }
  ComparedRun run;
  run.report = study_run({study_problem(std::move(ranking))});
  run.report.measured = true;
  return run;
}
ComparedRun as_before(std::size_t configs = kConfigs) {
  return run_of([](std::size_t) { return 1.0; }, configs);
}

ProblemReport& problem_of(ComparedRun& run) { return run.report.problems.front(); }

/// Makes configuration `number` fail with `outcome`.
void break_result(ComparedRun& run, std::size_t number, Outcome outcome) {
  ProblemReport& problem = problem_of(run);
  Result result = problem.ranking[number];
  problem.ranking.erase(problem.ranking.begin() + static_cast<std::ptrdiff_t>(number));
  result.outcome = std::move(outcome);
  result.rank = 0;
  problem.failures.push_back(result);
}

const RivalCheck& config_of(const RunComparison& comparison, std::size_t number) {
  const auto found = std::ranges::find(comparison.checks, name_of(number), &RivalCheck::config);
  EXPECT_NE(found, comparison.checks.end()) << number;
  return *found;
}

std::ptrdiff_t count_verdicts(const RunComparison& comparison, Verdict verdict) {
  return std::ranges::count(comparison.checks, verdict, &RivalCheck::verdict);
}

TEST(CompareRuns, TheSameRunTwiceIsEqual) {
  const RunComparison comparison = compare_runs(as_before(), as_before(), kTwoPercent);
  EXPECT_EQ(count_verdicts(comparison, Verdict::equal), kConfigs);
  EXPECT_EQ(comparison.problems[0].winner, WinnerChange::same);
  EXPECT_EQ(comparison.problems[0].shared, kConfigs);
  EXPECT_FALSE(is_worse(comparison.checks));
}

TEST(CompareRuns, OneThatIsSlowerThanTheDriftIsWorse) {
  const auto after = run_of([](std::size_t i) { return i == 5 ? 1.02 * 1.08 : 1.02; });
  const RunComparison comparison = compare_runs(as_before(), after, {.tolerance_percent = 2.5});
  EXPECT_NEAR(percent_of(comparison.movement.log_drift), 2.0, 1e-6);
  const RivalCheck& slower = comparison.checks.front();
  EXPECT_EQ(slower.config, name_of(5));
  EXPECT_EQ(slower.verdict, Verdict::slower);
  EXPECT_NEAR(slower.slower_by->percent, 8.0, 1e-6);
  EXPECT_EQ(count_verdicts(comparison, Verdict::equal), kConfigs - 1);
  EXPECT_TRUE(is_worse(comparison.checks));
}

TEST(CompareRuns, SlowerBeyondDoubtButNotBeyondTheToleranceIsUndecided) {
  const auto after = run_of([](std::size_t i) { return i == 5 ? 1.08 : 1.0; });
  const RunComparison comparison = compare_runs(as_before(), after, {.tolerance_percent = 7.5});
  EXPECT_GT(config_of(comparison, 5).slower_by->least, 0.0);
  EXPECT_EQ(config_of(comparison, 5).doubt, Doubt::wide_interval);
  EXPECT_FALSE(is_worse(comparison.checks));
}

TEST(CompareRuns, FasterIsNotWorse) {
  const auto after = run_of([](std::size_t i) { return i == 5 ? 0.9 : 1.0; });
  const RunComparison comparison = compare_runs(as_before(), after, {});
  EXPECT_EQ(config_of(comparison, 5).verdict, Verdict::faster);
  EXPECT_FALSE(is_worse(comparison.checks));
}

TEST(CompareRuns, WhatAllDoIsUndecided) {
  const auto after = run_of([](std::size_t) { return 1.3; });
  const RunComparison comparison = compare_runs(as_before(), after, kTwoPercent);
  EXPECT_EQ(count_verdicts(comparison, Verdict::undecided), kConfigs);
  EXPECT_EQ(comparison.checks.front().doubt, Doubt::all_moved);
  EXPECT_FALSE(is_worse(comparison.checks));
}

TEST(CompareRuns, TwoConfigurationsDoNotTellTheirChangesFromTheDrift) {
  const auto after = run_of([](std::size_t i) { return i == 1 ? 2.0 : 1.0; }, 2);
  const RunComparison comparison = compare_runs(as_before(2), after, {});
  EXPECT_EQ(count_verdicts(comparison, Verdict::undecided), 2);
  EXPECT_EQ(comparison.checks.front().doubt, Doubt::few_shared);
}

TEST(CompareRuns, OneThatFailsNowIsWrongAndComesFirst) {
  ComparedRun after = run_of([](std::size_t i) { return i == 5 ? 1.2 : 1.0; });
  break_result(after, 3, WrongResult{{}, "not what it should be"});
  const RunComparison comparison = compare_runs(as_before(), after, {});
  EXPECT_EQ(comparison.checks[0].verdict, Verdict::failed);
  EXPECT_EQ(comparison.checks[0].config, name_of(3));
  EXPECT_THAT(comparison.checks[0].why, testing::HasSubstr("not what it should be"));
  EXPECT_EQ(comparison.checks[1].verdict, Verdict::slower);
  EXPECT_TRUE(is_worse(comparison.checks));
}

TEST(CompareRuns, ADroppedConfigurationIsGone) {
  ComparedRun after = as_before();
  break_result(after, 3, Pruned{"rule", "reason"});
  const RunComparison comparison = compare_runs(as_before(), after, {});
  EXPECT_EQ(config_of(comparison, 3).verdict, Verdict::gone);
  EXPECT_FALSE(is_worse(comparison.checks));
}

TEST(CompareRuns, KnowsWhatIsNewRepairedAndFailingStill) {
  ComparedRun before = as_before(kConfigs - 1);
  break_result(before, 7, Crashed{"it crashed"});
  break_result(before, 3, Crashed{"it crashed"});
  ComparedRun after = as_before();
  break_result(after, 3, Crashed{"it crashes"});
  const RunComparison comparison = compare_runs(before, after, {});
  EXPECT_EQ(config_of(comparison, 7).verdict, Verdict::repaired);
  EXPECT_EQ(config_of(comparison, 3).verdict, Verdict::failing);
  EXPECT_EQ(config_of(comparison, kConfigs - 1).verdict, Verdict::added);
}

TEST(CompareRuns, WhatAFileOfWinnersLacksIsNotGone) {
  ComparedRun after = as_before(kConfigs - 5);
  after.is_part = true;
  EXPECT_EQ(compare_runs(as_before(), after, {}).checks.size(), kConfigs - 5);
  EXPECT_EQ(compare_runs(after, as_before(), {}).checks.size(), kConfigs - 5);
}

TEST(CompareRuns, AReusedTimeSaysNothing) {
  ComparedRun after = run_of([](std::size_t i) { return i < 10 ? 1.0 : 1.05; });
  for (std::size_t i = 0; i < 10; ++i) {
    problem_of(after).ranking[i].reused = true;
  }
  const RunComparison comparison = compare_runs(as_before(), after, {.tolerance_percent = 6.0});
  EXPECT_NEAR(percent_of(comparison.movement.log_drift), 5.0, 1e-6);
  EXPECT_EQ(config_of(comparison, 4).doubt, Doubt::reused);
  EXPECT_EQ(config_of(comparison, 14).verdict, Verdict::equal);
}

TEST(CompareRuns, AnotherGpuModelIsNotJudged) {
  ComparedRun after = run_of([](std::size_t i) { return i == 5 ? 2.0 : 1.0; });
  break_result(after, 3, Crashed{"too little shared memory"});
  after.report.device.name = "another";
  const RunComparison comparison = compare_runs(as_before(), after, {});
  EXPECT_EQ(comparison.refusal, Doubt::other_device);
  EXPECT_EQ(config_of(comparison, 5).doubt, Doubt::other_device);
  EXPECT_FALSE(is_worse(comparison.checks));
}

TEST(CompareRuns, EstimatesAreNotJudged) {
  ComparedRun after = as_before();
  after.report.measured = false;
  EXPECT_EQ(compare_runs(as_before(), after, {}).refusal, Doubt::not_measured);
}

/// A run in which the first two configurations have changed places.
ComparedRun with_another_winner() {
  ComparedRun run = as_before();
  std::swap(problem_of(run).ranking[0], problem_of(run).ranking[1]);
  return run;
}

TEST(CompareRuns, AnotherWinnerIsAChangeUnlessEitherRunHasATie) {
  EXPECT_EQ(compare_runs(as_before(), with_another_winner(), {}).problems[0].winner,
            WinnerChange::changed);
  ComparedRun before = as_before();
  for (Result& result : problem_of(before).ranking) {
    result.tie_group = kTied;
  }
  EXPECT_EQ(compare_runs(before, with_another_winner(), {}).problems[0].winner, WinnerChange::tied);
  EXPECT_EQ(compare_runs(with_another_winner(), before, {}).problems[0].winner, WinnerChange::tied);
}

TEST(CompareRuns, WinnersAloneAreThoseOfEitherRun) {
  const RunComparison comparison =
      compare_runs(as_before(), with_another_winner(), {.winners_only = true});
  EXPECT_EQ(comparison.checks.size(), 2U);
  EXPECT_EQ(comparison.problems[0].shared, kConfigs);
}

TEST(CompareRuns, OtherProblemsAreCounted) {
  ComparedRun after = as_before();
  ProblemReport other = problem_of(after);
  other.problem.seq_len = 7;
  after.report.problems.push_back(other);
  const RunComparison comparison = compare_runs(as_before(), after, {});
  EXPECT_EQ(comparison.problems.size(), 1U);
  EXPECT_EQ(comparison.added_problems, 1U);
  EXPECT_TRUE(comparison.missing.empty());
  const RunComparison back = compare_runs(after, as_before(), {});
  EXPECT_EQ(back.added_problems, 0U);
  ASSERT_EQ(back.missing.size(), 1U);
  EXPECT_EQ(back.missing[0].problem.seq_len, 7);
}

TEST(CompareRuns, ARunIsItselfIfItWasStartedOnceAndHasOneTimeForEach) {
  const auto started = [](ComparedRun run, const char* at) {
    run.report.started_at = at;
    return run;
  };
  const ComparedRun run = started(as_before(), "2026-11-23T09:50:18Z");
  EXPECT_EQ(compare_runs(run, run, {}).refusal, Doubt::same_run);
  const ComparedRun later = started(as_before(), "2026-11-23T09:51:18Z");
  EXPECT_EQ(compare_runs(run, later, {}).refusal, Doubt::none);
  const ComparedRun other =
      started(run_of([](std::size_t) { return 1.01; }), "2026-11-23T09:50:18Z");
  EXPECT_EQ(compare_runs(run, other, {}).refusal, Doubt::none);
}

TEST(CompareRuns, FewSamplesAreAsNoisyAsThoseOfOthers) {
  ComparedRun after = run_of([](std::size_t i) { return i == 5 ? 1.05 : 1.0; });
  Timing& timing = std::get<Measured>(problem_of(after).ranking[5].outcome).timing;
  const double half_width = [&] {
    const SlowerBy known = *config_of(compare_runs(as_before(), after, {}), 5).slower_by;
    return known.greatest - known.percent;
  }();
  timing.samples_us = {timing.median_us};
  timing.confidence = 0.0;
  const SlowerBy noisy = *config_of(compare_runs(as_before(), after, {}), 5).slower_by;
  EXPECT_GT(noisy.greatest - noisy.percent, half_width);
}

}  // namespace
}  // namespace fatune
