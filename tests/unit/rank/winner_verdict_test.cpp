#include "rank/winner_verdict.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace fatune {
namespace {

const Config kWinner{"f", {1}};

Result result(ParamValue id, double median_us, int tie_group, double half_width_us = 0.2,
              double confidence = 0.96) {
  Measured measured;
  measured.timing.median_us = median_us;
  measured.timing.median_low_us = median_us - half_width_us;
  measured.timing.median_high_us = median_us + half_width_us;
  measured.timing.confidence = confidence;
  Result result;
  result.config = {"f", {id}};
  result.short_form = "configuration " + std::to_string(id);
  result.outcome = measured;
  result.tie_group = tie_group;
  return result;
}

/// Judges a problem with these configurations in this order. `candidates` 0 means as many as there
/// are.
WinnerCheck judge(std::vector<Result> ranking, double tolerance_percent = 0.5,
                  std::size_t candidates = 0) {
  ProblemReport report;
  report.ranking = std::move(ranking);
  VerdictPolicy policy;
  policy.tolerance_percent = tolerance_percent;
  policy.candidates = candidates == 0 ? report.ranking.size() : candidates;
  WinnerCheck check;
  judge_winner(report, kWinner, policy, check);
  return check;
}

void expect_undecided(const WinnerCheck& check, WinnerDoubt doubt) {
  EXPECT_EQ(check.verdict, WinnerVerdict::undecided);
  EXPECT_EQ(check.doubt, doubt);
}

TEST(WinnerVerdict, TheFastestIsConfirmed) {
  const WinnerCheck check = judge({result(1, 100, 1), result(2, 110, 2)});
  EXPECT_EQ(check.verdict, WinnerVerdict::confirmed);
  EXPECT_EQ(check.doubt, WinnerDoubt::none);
  EXPECT_EQ(check.fastest, "configuration 1");
  EXPECT_EQ(check.winner_us, 100.0);
}

TEST(WinnerVerdict, OneWithinTheToleranceIsConfirmedTiedOrNot) {
  EXPECT_EQ(judge({result(2, 100, 1), result(1, 100.4, 1)}).verdict, WinnerVerdict::confirmed);
  EXPECT_EQ(judge({result(2, 100, 1), result(1, 100.4, 2)}).verdict, WinnerVerdict::confirmed);
}

TEST(WinnerVerdict, BeatenIsOneThatIsBehindBeyondDoubtAndTolerance) {
  const std::vector<Result> ranking{result(2, 100, 1), result(1, 108, 2)};
  EXPECT_EQ(judge(ranking).verdict, WinnerVerdict::beaten);
  EXPECT_EQ(judge(ranking, 9.0).verdict, WinnerVerdict::confirmed);
}

TEST(WinnerVerdict, OneThatLooksSlowerAndTiesIsUndecided) {
  expect_undecided(judge({result(2, 100, 1), result(1, 108, 1)}), WinnerDoubt::tied_behind);
}

TEST(WinnerVerdict, MediansThatAreNotKnownWellEnoughConfirmNothing) {
  expect_undecided(judge({result(1, 100, 1, 0.6), result(2, 100.1, 1)}),
                   WinnerDoubt::wide_interval);
  expect_undecided(judge({result(2, 100, 1, 0.6), result(1, 100.1, 1)}),
                   WinnerDoubt::wide_interval);
  EXPECT_EQ(judge({result(1, 100, 1, 0.6), result(2, 100.1, 1)}, 1.0).verdict,
            WinnerVerdict::confirmed);
}

// Drift widens the intervals of the medians but not that of the ratio. Noise widens the interval of
// the ratio more.
TEST(WinnerVerdict, PairsOrMediansAreEnough) {
  std::vector<Result> ranking{result(2, 100, 1, 2.0), result(1, 100.1, 1, 2.0)};
  ranking[1].to_fastest = MedianInterval{0.999, 1.003, 0.96};
  EXPECT_EQ(judge(ranking).verdict, WinnerVerdict::confirmed);
  ranking[1].to_fastest = MedianInterval{0.99, 1.01, 0.96};
  expect_undecided(judge(ranking), WinnerDoubt::wide_interval);
  ranking = {result(2, 100, 1), result(1, 100.1, 1)};
  ranking[1].to_fastest = MedianInterval{0.99, 1.01, 0.96};
  EXPECT_EQ(judge(ranking).verdict, WinnerVerdict::confirmed);
}

TEST(WinnerVerdict, TheFastestNeedsAComparisonWithAllThatTieWithIt) {
  std::vector<Result> ranking{result(1, 100, 1), result(2, 100.1, 1, 2.0), result(3, 120, 2, 9.0)};
  expect_undecided(judge(ranking), WinnerDoubt::wide_interval);
  ranking[1].to_fastest = MedianInterval{0.999, 1.003, 0.96};
  EXPECT_EQ(judge(ranking).verdict, WinnerVerdict::confirmed);
}

TEST(WinnerVerdict, TooFewSamplesForAnIntervalConfirmNothing) {
  expect_undecided(judge({result(1, 100, 1, 0.0, 0.0)}), WinnerDoubt::wide_interval);
}

TEST(WinnerVerdict, NothingIsConfirmedBeforeAllHaveBeenTried) {
  expect_undecided(judge({result(1, 100, 1)}, 0.5, 2), WinnerDoubt::stopped);
}

TEST(WinnerVerdict, AnIncompleteRankingCanBeatIt) {
  EXPECT_EQ(judge({result(2, 100, 1), result(1, 108, 2)}, 0.5, 40).verdict, WinnerVerdict::beaten);
}

TEST(WinnerVerdict, OneWithoutAnOutcomeIsUndecidedAndOneThatFailedHasFailed) {
  expect_undecided(judge({result(2, 100, 1)}), WinnerDoubt::stopped);
  ProblemReport report;
  report.failures = {result(1, 0, 0)};
  report.failures[0].outcome = Crashed{"CUDA_ERROR_LAUNCH_FAILED"};
  WinnerCheck check;
  judge_winner(report, kWinner, {}, check);
  EXPECT_EQ(check.verdict, WinnerVerdict::failed);
  EXPECT_FALSE(check.failure.empty());
}

}  // namespace
}  // namespace fatune
