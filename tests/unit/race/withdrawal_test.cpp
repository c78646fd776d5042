#include <gtest/gtest.h>

#include "unit/race/simulation.hpp"

namespace fatune {
namespace {

using simulation::join;
using simulation::racing_policy;
using simulation::run;
using simulation::winner_of;

Race race_of(int candidates) {
  Race race(racing_policy());
  for (int i = 0; i < candidates; ++i) {
    join(race);
  }
  race.close();
  return race;
}

TEST(Withdrawal, ACandidateThatBreaksGetsNoPlaceAndStopsNobody) {
  Race race = race_of(3);
  const std::size_t broken = race.next(0).candidate.index;
  race.withdraw({broken});
  const RaceResult result = run(race, {100, 100, 100}, {}, 1);
  EXPECT_EQ(result.standings[broken].place, 0);
  EXPECT_TRUE(result.standings[broken].timing.samples_us.empty());
  EXPECT_EQ(result.stopped_because, StopReason::target);
}

// The output of candidate 0 turns out to be wrong after it has beaten all others.
TEST(Withdrawal, ThoseWhoLostAgainstABrokenWinnerRaceAgain) {
  Race race = race_of(3);
  const std::vector<double> true_us{50, 100, 120};
  EXPECT_EQ(winner_of(run(race, true_us, {}, 1)), 0u);
  ASSERT_TRUE(race.result().standings[1].eliminated_in_round);
  race.withdraw({0});
  const RaceResult result = run(race, true_us, {}, 2);
  EXPECT_EQ(winner_of(result), 1u);
  EXPECT_FALSE(result.standings[1].eliminated_in_round);
  EXPECT_TRUE(result.standings[1].finalist);
  EXPECT_TRUE(result.standings[2].eliminated_in_round);
  EXPECT_EQ(result.standings[0].place, 0);
}

TEST(Withdrawal, ALoserThatBreaksChangesNothing) {
  Race race = race_of(3);
  const RaceResult before = run(race, {50, 100, 120}, {}, 1);
  race.withdraw({2});
  EXPECT_EQ(race.next(1).kind, Step::Kind::finished);
  EXPECT_EQ(race.result().samples_taken, before.samples_taken);
  EXPECT_EQ(race.result().standings[2].place, 0);
}

TEST(Withdrawal, WithoutAnybodyLeftItEnds) {
  Race race = race_of(2);
  ASSERT_EQ(race.next(0).kind, Step::Kind::sample);
  race.withdraw({0});
  race.withdraw({1});
  EXPECT_EQ(race.next(0).kind, Step::Kind::finished);
  EXPECT_EQ(race.result().stopped_because, StopReason::nobody_left);
}

TEST(Withdrawal, TheSentinelIsReplaced) {
  Race race = race_of(3);
  for (int i = 0; i < 3; ++i) {
    race.record(race.next(0).candidate.index == 1 ? 90 : 100, false);
  }
  static_cast<void>(race.next(0));
  ASSERT_EQ(race.result().sentinel_id, std::optional(CandidateId{1}));
  race.withdraw({1});
  const RaceResult result = run(race, {100, 90, 100}, {}, 1);
  ASSERT_TRUE(result.sentinel_id);
  EXPECT_NE(*result.sentinel_id, CandidateId{1});
}

}  // namespace
}  // namespace fatune
