#include "choose/cover.hpp"

#include <gmock/gmock.h>

#include "unit/choose/table_samples.hpp"

namespace fatune {
namespace {

using samples::problem;
using samples::row;

/// c1, c2 and c3 win a row each; c4 is within 4 % of the first two.
TunedTable three_rows() {
  return samples::table({row(problem(512), {{1, 100.0}, {4, 103.0}}),
                         row(problem(1024), {{2, 100.0}, {4, 104.0}, {1, 120.0}}),
                         row(problem(2048), {{3, 100.0}, {1, 150.0}})});
}

std::vector<std::string> names_of(const Cover& cover) {
  std::vector<std::string> names;
  for (const CoveringConfig& config : cover.configs) {
    names.push_back(config.short_form);
  }
  return names;
}

TEST(Cover, IsTheWinnersWithinNothing) {
  const Cover cover = find_cover(three_rows(), 0.0);
  EXPECT_THAT(names_of(cover), testing::ElementsAre("c1", "c2", "c3"));
  EXPECT_EQ(cover.winners, 3U);
  EXPECT_EQ(cover.configs[0].worst_regret_percent, 0.0);
}

TEST(Cover, TakesWhatServesSeveral) {
  const Cover cover = find_cover(three_rows(), 5.0);
  EXPECT_TRUE(cover.exact);
  EXPECT_THAT(names_of(cover), testing::ElementsAre("c3", "c4"));
  EXPECT_EQ(cover.configs[1].problems, 2U);
  EXPECT_NEAR(cover.configs[1].worst_regret_percent, 4.0, 1e-9);
}

TEST(Cover, OfAGreaterPercentageIsSmaller) {
  EXPECT_THAT(names_of(find_cover(three_rows(), 50.0)), testing::ElementsAre("c1"));
}

TEST(Cover, TakesTheBestThatRemainsWhereTheWinnerWasSkipped) {
  TunedTable table = three_rows();
  table.problems[2].times.erase(table.problems[2].times.begin());
  EXPECT_THAT(names_of(find_cover(table, 0.0)), testing::ElementsAre("c1", "c2"));
}

TEST(Cover, OfSeveralSmallestSetsLosesTheLeastTimeOfAllCalls) {
  TunedTable table = samples::table(
      {row(problem(512), {{1, 100.0}, {2, 101.0}}), row(problem(1024), {{2, 100.0}, {1, 104.0}})});
  EXPECT_THAT(names_of(find_cover(table, 5.0)), testing::ElementsAre("c2"));
  table.problems[0].calls = 100.0;
  table.problems[1].calls = 1.0;
  const Cover cover = find_cover(table, 5.0);
  EXPECT_THAT(names_of(cover), testing::ElementsAre("c1"));
  EXPECT_DOUBLE_EQ(cover.winners_us, 10100.0);
  EXPECT_DOUBLE_EQ(cover.total_us, 10104.0);
}

TEST(Cover, LimitedInNumberLosesTheLeastTimeOfAllCalls) {
  TunedTable table = three_rows();
  EXPECT_THAT(names_of(find_few(table, 1)), testing::ElementsAre("c1"));
  EXPECT_THAT(names_of(find_few(table, 2)), testing::ElementsAre("c1", "c3"));
  EXPECT_EQ(find_few(table, 9).configs.size(), 3U);  // no other helps
  table.problems[1].calls = 10.0;
  table.problems[2].calls = 1.0;
  EXPECT_THAT(names_of(find_few(table, 2)), testing::ElementsAre("c1", "c2"));
}

TEST(Cover, KeepsTheCallsOfARowThatGivesWayToAFasterOne) {
  TunedTable table = three_rows();
  table.problems.push_back(row(problem(512), {{1, 110.0}}));
  table.problems.back().calls = 7.0;
  finish_table(table);
  ASSERT_EQ(table.problems.size(), 3U);
  EXPECT_EQ(table.problems[0].times.front().time_us, 100.0);
  EXPECT_EQ(table.problems[0].calls, 7.0);
}

TEST(Cover, RestrictsTheTableToItself) {
  const TunedTable table = three_rows();
  const TunedTable rest = restricted_to(table, find_cover(table, 5.0));
  ASSERT_EQ(rest.problems.size(), 3U);
  EXPECT_EQ(rest.problems[0].times.size(), 1U);
  EXPECT_NEAR(rest.problems[0].times[0].regret_percent, 3.0, 1e-9);
  EXPECT_EQ(rest.defaults.at(0).short_form, "c4");
}

TEST(Cover, BeginsARowWithTheLeastRegretWhateverTheRaceRanked) {
  TunedTable table =
      samples::table({row(problem(512), {{1, 100.0}, {2, 138.0}, {3, 103.0}}),
                      row(problem(1024), {{3, 100.0}}), row(problem(2048), {{2, 100.0}})});
  const TunedTable rest = restricted_to(table, find_cover(table, 5.0));
  EXPECT_EQ(rest.problems[0].times.size(), 2U);
  EXPECT_NEAR(rest.problems[0].times[0].regret_percent, 3.0, 1e-9);
}

TEST(Cover, IsGreedyBeyondTheMostExactCandidates) {
  EXPECT_TRUE(find_cover(three_rows(), 5.0, 3).exact);
  const Cover greedy = find_cover(three_rows(), 5.0, 2);
  EXPECT_FALSE(greedy.exact);
  EXPECT_THAT(names_of(greedy), testing::ElementsAre("c3", "c4"));
}

}  // namespace
}  // namespace fatune
