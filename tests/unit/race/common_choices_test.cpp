
#include <gmock/gmock.h>

#include <cmath>

#include "race/ranking.hpp"

namespace fatune {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

Problem problem_of(std::int64_t seq_len, DType dtype = DType::fp16) {
  return {1, seq_len, 1, 128, dtype, false};
}

/// Configuration 1 has the first time, 2 the second, and so on. A time of 0 means that it failed.
ProblemReport report_of(const Problem& problem, const std::vector<double>& times_us,
                        bool measured = false) {
  std::vector<Result> results;
  for (std::size_t i = 0; i < times_us.size(); ++i) {
    Result& result = results.emplace_back();
    result.config = {"f", {static_cast<ParamValue>(i + 1)}};
    result.short_form = std::string(1, static_cast<char>('A' + i));
    Measured timed;
    timed.timing.median_us = times_us[i];
    timed.timing.median_low_us = times_us[i] - 1.0;
    timed.timing.median_high_us = times_us[i] + 1.0;
    result.outcome = times_us[i] == 0.0 ? Outcome{Crashed{"it"}}
                     : measured         ? Outcome{timed}
                                        : Outcome{Estimated{times_us[i], {}}};
  }
  ProblemReport report;
  report.problem = problem;
  sort_into_report(std::move(results), std::nullopt, report);
  return report;
}

TEST(CommonChoices, NoneForOneProblemHoweverOftenItWasMeasured) {
  EXPECT_THAT(common_choices({}), IsEmpty());
  ProblemReport again = report_of(problem_of(512), {10.0});
  again.run = 2;
  EXPECT_THAT(common_choices({report_of(problem_of(512), {10.0}), again}), IsEmpty());
}

TEST(CommonChoices, DoNotCountRacesForACover) {
  ProblemReport race = report_of(problem_of(512), {10.0});
  race.run = 2;
  race.pruned = 1;
  const auto choices = common_choices(
      {report_of(problem_of(512), {10.0, 11.0}), report_of(problem_of(1024), {20.0, 21.0}), race});
  EXPECT_EQ(choices.at(0).problems, 2U);
}

TEST(CommonChoices, HaveTheLeastGeometricMeanOfSlowdowns) {
  // Slow-downs: A 1.0 and 1.5, B 1.1 and 1.2, C 1.4 and 1.0: B has the least product.
  const auto choices = common_choices({report_of(problem_of(512), {10.0, 11.0, 14.0}),
                                       report_of(problem_of(1024), {30.0, 24.0, 20.0})});
  ASSERT_THAT(choices, SizeIs(1));
  const CommonChoice& choice = choices[0];
  EXPECT_EQ(choice.config, "B");
  EXPECT_EQ(choice.problems, 2U);
  EXPECT_NEAR(choice.mean_regret_percent, 100.0 * (std::sqrt(1.1 * 1.2) - 1.0), 1e-9);
  EXPECT_NEAR(choice.worst_regret_percent, 20.0, 1e-9);
  EXPECT_EQ(choice.worst_problem, problem_of(1024));
}

TEST(CommonChoices, AreRankedOnEveryProblem) {
  const auto choices = common_choices(
      {report_of(problem_of(512), {10.0, 20.0}), report_of(problem_of(1024), {0.0, 20.0})});
  EXPECT_EQ(choices.at(0).config, "B");
  EXPECT_NEAR(choices[0].worst_regret_percent, 100.0, 1e-9);
  const auto none = common_choices(
      {report_of(problem_of(512), {10.0, 0.0}), report_of(problem_of(1024), {0.0, 0.0})});
  EXPECT_THAT(none.at(0).config, IsEmpty());
}

TEST(CommonChoices, TypesAreChosenForApart) {
  const auto choices = common_choices({report_of(problem_of(512), {10.0}),
                                       report_of(problem_of(512, DType::bf16), {10.0}),
                                       report_of(problem_of(1024), {10.0})});
  ASSERT_THAT(choices, SizeIs(1)) << "BF16 has one problem: its winner is the choice";
  EXPECT_EQ(choices[0].dtype, DType::fp16);
}

TEST(CommonChoices, AMedianBelowTheWinnersIsNoGain) {
  ProblemReport raced = report_of(problem_of(512), {10.0, 12.0});
  std::swap(raced.ranking[0], raced.ranking[1]);
  const auto choices = common_choices({raced, report_of(problem_of(1024), {10.0, 10.0})});
  EXPECT_EQ(choices.at(0).mean_regret_percent, 0.0);
}

}  // namespace
}  // namespace fatune
