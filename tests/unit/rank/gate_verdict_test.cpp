#include "rank/gate_verdict.hpp"

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

GateCheck judged(const ProblemReport& duel) {
  GateCheck check;
  judge_duel(duel, kOurs, kTheirs, 0.5, check);
  return check;
}

GateCheck behind_by(double low, double high) {
  ProblemReport duel;
  duel.ranking = {timed(kTheirs, 100.0), timed(kOurs, 101.0, MedianInterval{low, high, 0.95})};
  return judged(duel);
}

TEST(GateVerdict, AnIntervalBeyondTheToleranceDecides) {
  EXPECT_EQ(behind_by(1.006, 1.014).verdict, GateVerdict::slower);
  EXPECT_EQ(behind_by(1.004, 1.014).verdict, GateVerdict::undecided);
  EXPECT_EQ(behind_by(0.999, 1.004).verdict, GateVerdict::equal);
}

TEST(GateVerdict, TheRatioIsTheWinnersWhicheverIsFaster) {
  ProblemReport duel;
  duel.ranking = {timed(kOurs, 100.0), timed(kTheirs, 125.0, MedianInterval{1.2, 1.25, 0.95})};
  const GateCheck check = judged(duel);
  EXPECT_EQ(check.verdict, GateVerdict::faster);
  EXPECT_DOUBLE_EQ(check.ratio->low, 0.8);
  EXPECT_DOUBLE_EQ(check.ratio->high, 1.0 / 1.2);
  EXPECT_EQ(check.rounds, 200U);
}

TEST(GateVerdict, TheSameMachineCodeIsEqual) {
  ProblemReport duel;
  duel.ranking = {timed(kOurs, 100.0), timed(kTheirs, 100.0)};
  duel.ranking[1].same_code_as = duel.ranking[0].short_form;
  EXPECT_EQ(judged(duel).verdict, GateVerdict::equal);
  EXPECT_FALSE(judged(duel).ratio);
}

TEST(GateVerdict, AWinnerThatFailsBesideItsRivalHasFailed) {
  ProblemReport duel;
  duel.ranking = {timed(kTheirs, 100.0)};
  duel.failures = {timed(kOurs, 0.0)};
  duel.failures[0].outcome = Crashed{"an illegal address"};
  EXPECT_EQ(judged(duel).verdict, GateVerdict::failed);
  EXPECT_THAT(judged(duel).why, testing::HasSubstr("illegal address"));
}

TEST(GateVerdict, ARivalThatFailsIsNone) {
  ProblemReport duel;
  duel.ranking = {timed(kOurs, 100.0)};
  duel.failures = {timed(kTheirs, 0.0)};
  duel.failures[0].outcome = Crashed{"an illegal address"};
  EXPECT_EQ(judged(duel).verdict, GateVerdict::no_rival);
}

TEST(GateVerdict, WithoutEnoughRoundsNothingIsDecided) {
  ProblemReport duel;
  duel.ranking = {timed(kTheirs, 100.0), timed(kOurs, 150.0)};
  EXPECT_EQ(judged(duel).verdict, GateVerdict::undecided);
  EXPECT_EQ(judged({}).verdict, GateVerdict::undecided);
}

TEST(Gate, IsWorseWhereOneIsSlowerOrHasFailed) {
  GateReport report;
  report.checks.resize(2);
  report.checks[0].verdict = GateVerdict::equal;
  EXPECT_FALSE(is_worse(report));
  report.checks[1].verdict = GateVerdict::slower;
  EXPECT_TRUE(is_worse(report));
  report.checks[1].verdict = GateVerdict::failed;
  EXPECT_TRUE(is_worse(report));
}

}  // namespace
}  // namespace fatune
