#include "rank/duel.hpp"

#include <gmock/gmock.h>

namespace fatune {
namespace {

const Config kOurs{"toy", {1}};
const Config kTheirs{"toy@old", {1}};

Result timed(const Config& config, double us, std::optional<MedianInterval> to_fastest = {}) {
  Result result;
  result.config = config;
  result.short_form = config.family;
  Measured measured;
  measured.timing.median_us = us;
  measured.timing.samples_us.assign(200, us);
  result.outcome = measured;
  result.to_fastest = to_fastest;
  return result;
}

Result crashed(const Config& config) {
  Result result = timed(config, 0.0);
  result.outcome = Crashed{"an illegal address"};
  return result;
}

RivalCheck judged(const ProblemReport& duel) {
  RivalCheck check;
  judge_duel(duel, kOurs, kTheirs, 0.5, check);
  return check;
}

RivalCheck behind_by(double low, double high) {
  ProblemReport duel;
  duel.ranking = {timed(kTheirs, 100.0), timed(kOurs, 101.0, MedianInterval{low, high, 0.95})};
  return judged(duel);
}

TEST(Duel, AnIntervalBeyondTheToleranceDecides) {
  EXPECT_EQ(behind_by(1.006, 1.014).verdict, Verdict::slower);
  EXPECT_EQ(behind_by(0.999, 1.004).verdict, Verdict::equal);
  EXPECT_EQ(behind_by(0.999, 1.004).doubt, Doubt::none);
  EXPECT_EQ(behind_by(1.004, 1.014).verdict, Verdict::undecided);
  EXPECT_EQ(behind_by(1.004, 1.014).doubt, Doubt::wide_interval);
}

TEST(Duel, TheIntervalIsTheConfigurationsWhicheverIsFaster) {
  ProblemReport duel;
  duel.ranking = {timed(kOurs, 100.0), timed(kTheirs, 125.0, MedianInterval{1.2, 1.25, 0.95})};
  const RivalCheck check = judged(duel);
  EXPECT_EQ(check.verdict, Verdict::faster);
  EXPECT_DOUBLE_EQ(check.slower_by->least, -20.0);
  EXPECT_DOUBLE_EQ(check.slower_by->greatest, 100.0 * (1.0 / 1.2 - 1.0));
  EXPECT_EQ(check.rounds, 200U);
}

TEST(Duel, TheSameMachineCodeIsEqual) {
  ProblemReport duel;
  duel.ranking = {timed(kOurs, 100.0), timed(kTheirs, 100.0)};
  duel.ranking[1].same_code_as = duel.ranking[0].short_form;
  EXPECT_EQ(judged(duel).verdict, Verdict::equal);
  EXPECT_FALSE(judged(duel).slower_by);
}

TEST(Duel, OneThatFailsBesideItsRivalHasFailed) {
  ProblemReport duel;
  duel.ranking = {timed(kTheirs, 100.0)};
  duel.failures = {crashed(kOurs)};
  EXPECT_EQ(judged(duel).verdict, Verdict::failed);
  EXPECT_THAT(judged(duel).why, testing::HasSubstr("illegal address"));
}

TEST(Duel, ARivalThatFailsDecidesNothingAboutTimes) {
  ProblemReport duel;
  duel.ranking = {timed(kOurs, 100.0)};
  duel.failures = {crashed(kTheirs)};
  EXPECT_EQ(judged(duel).verdict, Verdict::repaired);
  duel.ranking.clear();
  duel.failures.push_back(crashed(kOurs));
  EXPECT_EQ(judged(duel).verdict, Verdict::failing);
}

TEST(Duel, WithoutEnoughRoundsNothingIsDecided) {
  ProblemReport duel;
  duel.ranking = {timed(kTheirs, 100.0), timed(kOurs, 150.0)};
  EXPECT_EQ(judged(duel).verdict, Verdict::undecided);
  EXPECT_EQ(judged(duel).doubt, Doubt::few_samples);
  EXPECT_EQ(judged({}).doubt, Doubt::stopped);
}

}  // namespace
}  // namespace fatune
