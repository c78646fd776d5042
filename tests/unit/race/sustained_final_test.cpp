#include "race/sustained_final.hpp"

#include <gmock/gmock.h>

#include <map>

#include "base/ranges.hpp"

namespace fatune {
namespace {

using testing::ElementsAre;

RacePolicy sustaining() {
  RacePolicy policy;
  policy.sustain_s = 2.0;
  return policy;
}

/// The result of a race in which the candidates with these times had the places 1, 2, ... and tie
/// groups of their own.
RaceResult race_of(const std::vector<double>& times_us) {
  RaceResult result;
  for (const double time_us : times_us) {
    Standing standing;
    standing.candidate = {result.standings.size()};
    standing.timing.median_us = time_us;
    standing.place = static_cast<int>(result.standings.size()) + 1;
    standing.tie_group = standing.place;
    result.standings.push_back(standing);
  }
  return result;
}

/// Takes all turns. Those of a candidate take the times in the order of its list.
std::vector<std::size_t> run(SustainedFinal& race, std::map<std::size_t, std::vector<double>> us) {
  std::vector<std::size_t> order;
  while (const auto id = race.next()) {
    order.push_back(id->index);
    std::vector<double>& turns_us = us.at(id->index);
    race.record({turns_us.front(), 1500.0});
    turns_us.erase(turns_us.begin());
  }
  return order;
}

std::vector<int> places(const RaceResult& result) {
  return mapped(result.standings, &Standing::place);
}

std::vector<int> groups(const RaceResult& result) {
  return mapped(result.standings, &Standing::tie_group);
}

TEST(SustainedFinal, IsOfThoseNearTheWinnerInABalancedOrder) {
  RaceResult result = race_of({100, 106.1, 105.9, 101});
  SustainedFinal race(result.standings, sustaining(), 0.0);
  EXPECT_THAT(run(race, {{0, {9, 9}}, {2, {8, 8}}, {3, {7, 7}}}), ElementsAre(0, 2, 3, 3, 2, 0));
  race.rank(result);
  EXPECT_THAT(places(result), ElementsAre(3, 4, 2, 1));
  EXPECT_EQ(result.standings[1].timing.sustained_us, 0.0);
  EXPECT_EQ(result.standings[2].timing.sustained_us, 8.0);
  EXPECT_EQ(result.standings[2].timing.sustained_sm_mhz, 1500.0);
}

TEST(SustainedFinal, IsOfTheFirstFew) {
  const RaceResult result = race_of(std::vector<double>(40, 100.0));
  SustainedFinal race(result.standings, sustaining(), 0.0);
  std::map<std::size_t, std::vector<double>> us;
  for (std::size_t i = 0; i < 24; ++i) {
    us[i] = {1, 1};
  }
  EXPECT_THAT(run(race, us), testing::SizeIs(24 + 6));
}

TEST(SustainedFinal, OnlyTheFastestOfTheFirstRoundAreInTheSecondOne) {
  RaceResult result = race_of({100, 101, 102, 103});
  RacePolicy policy = sustaining();
  policy.most_sustained_twice = 2;
  SustainedFinal race(result.standings, policy, 0.0);
  EXPECT_THAT(run(race, {{0, {9}}, {1, {7, 7.2}}, {2, {8.5}}, {3, {7.5, 6.5}}}),
              ElementsAre(0, 1, 2, 3, 3, 1));
  race.rank(result);
  EXPECT_THAT(places(result), ElementsAre(4, 2, 3, 1));
}

// A turn of 2 s may take 2.5 s.
TEST(SustainedFinal, IsOfAsManyAsTheBudgetHasTimeFor) {
  const RaceResult result = race_of(std::vector<double>(20, 100.0));
  RacePolicy policy = sustaining();
  policy.budget_s = 20.0;
  SustainedFinal two(result.standings, policy, 9.0);
  EXPECT_THAT(run(two, {{0, {1, 1}}, {1, {1, 1}}}), ElementsAre(0, 1, 1, 0));
  EXPECT_FALSE(SustainedFinal(result.standings, policy, 11.0).next());
  EXPECT_FALSE(SustainedFinal(result.standings, policy, 21.0).next());
  policy.budget_s = 2.5 * 16;
  std::map<std::size_t, std::vector<double>> us;
  for (std::size_t i = 0; i < 10; ++i) {
    us[i] = {1, 1};
  }
  SustainedFinal ten(result.standings, policy, 0.0);
  EXPECT_THAT(run(ten, us), testing::SizeIs(16));
}

TEST(SustainedFinal, ThoseWhoseTurnsOverlapCannotBeToldApart) {
  RaceResult result = race_of({100, 101, 102, 120, 130});
  SustainedFinal race(result.standings, sustaining(), 0.0);
  run(race, {{0, {110, 112}}, {1, {105, 107}}, {2, {106, 109}}});
  race.rank(result);
  EXPECT_THAT(places(result), ElementsAre(3, 1, 2, 4, 5));
  EXPECT_THAT(groups(result), ElementsAre(2, 1, 1, 7, 8));
}

TEST(SustainedFinal, ChangesNothingBeforeItIsOver) {
  RaceResult result = race_of({100, 101});
  SustainedFinal race(result.standings, sustaining(), 0.0);
  race.record({110, 1500});
  race.record({105, 1500});
  race.rank(result);
  EXPECT_THAT(places(result), ElementsAre(1, 2));
  EXPECT_EQ(result.standings[0].timing.sustained_us, 0.0);
}

TEST(SustainedFinal, OfNobodySaysWhy) {
  RaceResult result = race_of({100, 106.1});
  const SustainedFinal race(result.standings, sustaining(), 0.0);
  EXPECT_FALSE(race.next());
  race.rank(result);
  EXPECT_EQ(result.not_sustained_because, "no other configuration is within 6 % of the winner");
  EXPECT_THAT(places(result), ElementsAre(1, 2));
}

}  // namespace
}  // namespace fatune
