#include "race/ranking.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <string>
#include <vector>

namespace fatune {
namespace {

using testing::ElementsAre;

Result measured(ParamValue id, double median_us, double half_width_us) {
  Measured outcome;
  outcome.timing.median_us = median_us;
  outcome.timing.median_low_us = median_us - half_width_us;
  outcome.timing.median_high_us = median_us + half_width_us;
  Result result;
  result.config = {"f", {id}};
  result.outcome = outcome;
  return result;
}

Result estimated(ParamValue id, double estimate_us) {
  Result result;
  result.config = {"f", {id}};
  result.outcome = Estimated{estimate_us, {}};
  return result;
}

Result failed(ParamValue id) {
  Result result;
  result.config = {"f", {id}};
  result.outcome = Crashed{"CUDA_ERROR_LAUNCH_FAILED"};
  return result;
}

std::vector<ParamValue> ids(const std::vector<Result>& results) {
  std::vector<ParamValue> ids;
  for (const Result& result : results) {
    ids.push_back(result.config.values.front());
  }
  return ids;
}

std::vector<int> groups(const std::vector<Result>& results) {
  std::vector<int> groups;
  for (const Result& result : results) {
    groups.push_back(result.tie_group);
  }
  return groups;
}

TEST(RankResults, EstimatesTieWithinWhatTheyCanTell) {
  std::vector<Result> results{estimated(1, 1000.0), estimated(2, 1000.4), estimated(3, 1009.0),
                              estimated(4, 1011.0), estimated(5, 1020.0), estimated(6, 1022.0)};
  rank_results(results, std::nullopt);
  EXPECT_THAT(ids(results), ElementsAre(1, 2, 3, 4, 5, 6)) << "their order stays";
  EXPECT_THAT(groups(results), ElementsAre(1, 1, 1, 2, 2, 3)) << "within 1 % of a group's first";
}

TEST(RankResults, OrdersByMedianAndNumbersFromOne) {
  std::vector<Result> results{measured(1, 30, 0), measured(2, 10, 0), measured(3, 20, 0)};
  rank_results(results, std::nullopt);
  EXPECT_THAT(ids(results), ElementsAre(2, 3, 1));
  EXPECT_EQ(results[0].rank, 1);
  EXPECT_EQ(results[2].rank, 3);
}

TEST(RankResults, EqualTimesStandInConfigurationOrderWhateverTheInputOrder) {
  std::vector<Result> results{estimated(9, 5), estimated(2, 5), estimated(7, 5)};
  rank_results(results, std::nullopt);
  EXPECT_THAT(ids(results), ElementsAre(2, 7, 9));
  EXPECT_THAT(groups(results), ElementsAre(1, 1, 1));
}

TEST(RankResults, GroupsByOverlapWithTheBestOfTheGroupNotWithTheNeighbour) {
  // 100 +-3, 105 +-3, 110 +-3: each overlaps its neighbour, but the third not the first.
  std::vector<Result> results{measured(1, 100, 3), measured(2, 105, 3), measured(3, 110, 3)};
  rank_results(results, std::nullopt);
  EXPECT_THAT(groups(results), ElementsAre(1, 1, 2));
}

TEST(RankResults, TouchingIntervalsTie) {
  std::vector<Result> results{measured(1, 100, 5), measured(2, 110, 5), measured(3, 121, 5)};
  rank_results(results, std::nullopt);
  EXPECT_THAT(groups(results), ElementsAre(1, 1, 2));
}

TEST(RankResults, RelativeToTheBestUnlessABaselineIsChosen) {
  std::vector<Result> results{measured(1, 200, 0), measured(2, 100, 0)};
  rank_results(results, std::nullopt);
  EXPECT_DOUBLE_EQ(results[0].relative_percent, 100.0);
  EXPECT_DOUBLE_EQ(results[1].relative_percent, 50.0);
  rank_results(results, Config{"f", {1}});
  EXPECT_DOUBLE_EQ(results[0].relative_percent, 200.0);
  EXPECT_DOUBLE_EQ(results[1].relative_percent, 100.0);
}

TEST(RankResults, ABaselineThatIsNotThereCountsAsTheBest) {
  std::vector<Result> results{measured(1, 200, 0), measured(2, 100, 0)};
  rank_results(results, Config{"f", {77}});
  EXPECT_DOUBLE_EQ(results[0].relative_percent, 100.0);
}

TEST(RankResults, TimesThatMakeNoSenseSortLastAndHaveNoRatio) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<Result> results{measured(1, nan, 0), measured(2, 0, 0), measured(3, 10, 0),
                              measured(4, std::numeric_limits<double>::infinity(), 0)};
  rank_results(results, std::nullopt);
  EXPECT_THAT(ids(results), ElementsAre(3, 1, 2, 4));
  for (std::size_t i = 1; i < results.size(); ++i) {
    EXPECT_EQ(results[i].relative_percent, 0.0);
  }
}

TEST(RankResults, NothingStaysNothing) {
  std::vector<Result> results;
  rank_results(results, std::nullopt);
  EXPECT_TRUE(results.empty());
}

// --- Races ---

Result raced(ParamValue id, double median_us, int place, int tie_group) {
  Result result = measured(id, median_us, 0);
  result.rank = place;
  result.tie_group = tie_group;
  return result;
}

TEST(RankResults, ARacesPlacesAndGroupsAreKept) {
  // The finals' winner has the greater median of the two: they were compared in pairs.
  std::vector<Result> results{raced(1, 102, 3, 2), raced(2, 101, 1, 1), raced(3, 100, 2, 1)};
  rank_results(results, std::nullopt);
  EXPECT_THAT(ids(results), ElementsAre(2, 3, 1));
  EXPECT_THAT(groups(results), ElementsAre(1, 1, 2));
  EXPECT_DOUBLE_EQ(results[0].relative_percent, 100.0);
  EXPECT_DOUBLE_EQ(results[1].relative_percent, 101.0);
}

TEST(RankResults, PlacesThatAreMissingAreClosedUp) {
  std::vector<Result> results{raced(1, 120, 9, 7), raced(2, 100, 2, 2), raced(3, 110, 5, 2)};
  rank_results(results, std::nullopt);
  EXPECT_THAT(ids(results), ElementsAre(2, 3, 1));
  EXPECT_THAT(groups(results), ElementsAre(1, 1, 2));
  EXPECT_EQ(results[0].rank, 1);
  EXPECT_EQ(results[2].rank, 3);
}

TEST(RankResults, OnesWithTheSameCodeShareAPlaceInConfigurationOrder) {
  std::vector<Result> results{raced(9, 100, 1, 1), raced(5, 100, 1, 1), raced(7, 110, 2, 2)};
  rank_results(results, std::nullopt);
  EXPECT_THAT(ids(results), ElementsAre(5, 9, 7));
  EXPECT_THAT(groups(results), ElementsAre(1, 1, 2));
}

TEST(RankResults, OneThatWasNotInTheRaceMakesTheTimesDecide) {
  std::vector<Result> results{raced(1, 102, 1, 1), raced(2, 101, 2, 1), measured(3, 100, 0)};
  rank_results(results, std::nullopt);
  EXPECT_THAT(ids(results), ElementsAre(3, 2, 1));
  EXPECT_THAT(groups(results), ElementsAre(1, 2, 3));
}

TEST(SortIntoReport, FailuresAreNeverRanked) {
  ProblemReport report;
  sort_into_report({failed(5), measured(2, 10, 0), failed(1), measured(1, 5, 0)}, std::nullopt,
                   report);
  EXPECT_THAT(ids(report.ranking), ElementsAre(1, 2));
  EXPECT_THAT(ids(report.failures), ElementsAre(1, 5));
  EXPECT_EQ(report.failures[0].rank, 0);
}

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
