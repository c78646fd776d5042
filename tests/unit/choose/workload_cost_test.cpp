#include "choose/workload_cost.hpp"

#include <gmock/gmock.h>

#include "race/ranking.hpp"

namespace fatune {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

Result timed(const std::string& name, double us) {
  Result result;
  result.short_form = name;
  Measured measured;
  measured.timing.median_us = us;
  measured.timing.median_low_us = us - 1.0;
  measured.timing.median_high_us = us + 2.0;
  result.outcome = measured;
  return result;
}

ProblemReport called(double calls, std::vector<Result> ranking) {
  ProblemReport report;
  report.calls = calls;
  report.ranking = std::move(ranking);
  return report;
}

TEST(WorkloadCost, IsThatOfAllCallsWithTheirWinners) {
  auto problems = {called(10, {timed("a", 5.0), timed("b", 6.0)}), called(1, {timed("b", 100.0)})};
  const auto cost = workload_cost(problems);
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->calls, 11.0);
  EXPECT_EQ(cost->winners_us, 150.0);
  EXPECT_EQ(cost->low_us, 10 * 4.0 + 99.0);
  EXPECT_EQ(cost->high_us, 10 * 7.0 + 102.0);
  EXPECT_EQ(cost->known, 0U);
}

TEST(WorkloadCost, ComparesTheProblemsWhoseTimeBeforeIsKnown) {
  std::vector<ProblemReport> problems{called(10, {timed("a", 5.0)}),
                                      called(2, {timed("b", 100.0)})};
  problems[0].before_us = 8.0;
  const auto cost = workload_cost(problems);
  EXPECT_EQ(cost->known, 1U);
  EXPECT_EQ(cost->before_us, 80.0);
  EXPECT_EQ(cost->after_us, 50.0);
}

TEST(WorkloadCost, ChoosesFewConfigurationsByWhatTheCallsTake) {
  // One configuration has a time on each problem; the calls of the first weigh most.
  const auto cost = workload_cost({called(100, {timed("a", 5.0), timed("c", 6.0)}),
                                   called(1, {timed("b", 20.0), timed("c", 30.0)}),
                                   called(1, {timed("c", 10.0)})});
  ASSERT_THAT(cost->few, SizeIs(3));
  EXPECT_THAT(cost->few[0].configs, ElementsAre("c"));
  EXPECT_EQ(cost->few[0].total_us, 640.0);
  EXPECT_THAT(cost->few[1].configs, ElementsAre("c", "a"));
  EXPECT_EQ(cost->few[1].total_us, 540.0);
  EXPECT_THAT(cost->few[2].configs, ElementsAre("c", "a", "b"));
  EXPECT_EQ(cost->few[2].total_us, cost->winners_us);
}

TEST(WorkloadCost, IsNoneWithoutCallsOrTimes) {
  EXPECT_FALSE(workload_cost({}));
  ProblemReport report = called(1, {timed("a", 1.0)});
  report.calls.reset();
  EXPECT_FALSE(workload_cost({report}));
  EXPECT_FALSE(workload_cost({called(1, {})}));
}

}  // namespace
}  // namespace fatune
