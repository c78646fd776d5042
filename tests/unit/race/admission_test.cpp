#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <stdexcept>

#include "unit/race/simulation.hpp"

namespace fatune {
namespace {

using simulation::join;
using simulation::racing_policy;
using simulation::run;
using simulation::run_admitted;
using simulation::winner_of;

Race race_of(const RacePolicy& policy, const std::vector<double>& admission_us) {
  Race race(policy);
  for (const double time_us : admission_us) {
    join(race, time_us);
  }
  race.close();
  return race;
}

// Runs until `rounds` rounds are accepted or no sample is due. Returns each candidate's number of
// samples.
std::vector<int> samples_of_rounds(Race& race, const std::vector<double>& true_us, int rounds) {
  std::vector<int> samples(true_us.size(), 0);
  for (Step step = race.next(0); step.kind == Step::Kind::sample && race.result().rounds < rounds;
       step = race.next(0)) {
    race.record(true_us[step.candidate.index], false);
    ++samples[step.candidate.index];
  }
  return samples;
}

TEST(Admission, TheHopelessAreOutBeforeTheFirstRound) {
  const RaceResult result = run_admitted(racing_policy(), {100, 155, 102, 149}, {}, 1);
  const Standing& hopeless = result.standings[1];
  EXPECT_EQ(hopeless.eliminated_in_round, 0);
  EXPECT_EQ(hopeless.timing.samples_us, std::vector<double>{155});
  EXPECT_EQ(hopeless.timing.confidence, 0.0);  // one sample has no interval
  EXPECT_EQ(hopeless.timing.stopped_because, "eliminated at admission");
  EXPECT_EQ(hopeless.place, 4);
  EXPECT_GT(hopeless.tie_group, result.standings[0].tie_group);
  EXPECT_EQ(result.standings[3].eliminated_in_round, 1);
  EXPECT_EQ(result.standings[3].timing.samples_us.size(), 1u);
}

TEST(Admission, TheHopelessAreTiedOnlyWithTheirLike) {
  const RaceResult result = run_admitted(racing_policy(), {100, 200, 210, 300}, {}, 1);
  EXPECT_EQ(result.standings[1].tie_group, 2);
  EXPECT_EQ(result.standings[2].tie_group, 2);
  EXPECT_EQ(result.standings[3].tie_group, 3);
}

TEST(Admission, ThePolicyCanAskForARoundAllTheSame) {
  RacePolicy policy = racing_policy();
  policy.admission_may_eliminate = false;
  const RaceResult result = run_admitted(policy, {100, 155, 300}, {}, 1);
  for (const std::size_t slow : {1u, 2u}) {
    EXPECT_EQ(result.standings[slow].eliminated_in_round, 1);
    EXPECT_EQ(result.standings[slow].timing.stopped_because, "eliminated in round 1");
  }
}

TEST(Admission, ASlowOneAndASlowFirstRoundAreEnough) {
  Race race = race_of(racing_policy(), {100, 115, 115});
  const RaceResult result = run(race, {100, 108, 102}, {}, 1);
  EXPECT_EQ(result.standings[1].eliminated_in_round, 1);
  EXPECT_NE(result.standings[2].eliminated_in_round, 1);  // its admission was unlucky
}

// The candidate that is in truth the fastest survives one slow sample at its admission.
TEST(Admission, OneUnluckySampleIsNotEnough) {
  Race race = race_of(racing_policy(), {140, 100, 101});
  const RaceResult result = run(race, {90, 100, 101}, {}, 1);
  EXPECT_EQ(winner_of(result), 0u);
}

TEST(Admission, TheFastestLeadsTheFirstRound) {
  RacePolicy policy = racing_policy();
  Race race = race_of(policy, {118, 100, 118});
  samples_of_rounds(race, {94, 100, 106}, 1);
  const RaceResult result = race.result();
  EXPECT_FALSE(result.standings[0].eliminated_in_round);
  EXPECT_EQ(result.standings[2].eliminated_in_round, 1);  // 6 % behind leader 1: a gross loss
}

TEST(Admission, ALateFastOneMakesEarlierOnesHopeless) {
  Race race(racing_policy());
  join(race, 200);
  join(race, 210);
  while (race.next(0).kind == Step::Kind::sample) {
    race.record(200, false);
  }
  join(race, 100);
  join(race, 190);
  race.close();
  const RaceResult result = run(race, {200, 210, 100, 190}, {}, 1);
  EXPECT_EQ(winner_of(result), 2u);
  EXPECT_EQ(result.standings[0].eliminated_in_round, 1);  // it already had a round
  EXPECT_EQ(result.standings[0].timing.samples_us.size(), 1u);
  EXPECT_EQ(result.standings[3].eliminated_in_round, 0);
}

TEST(Admission, WhileOthersMayJoinOneSampleEachWillDo) {
  Race race(racing_policy());
  for (int i = 0; i < 4; ++i) {
    join(race, 100);
  }
  EXPECT_EQ(samples_of_rounds(race, {100, 100, 100, 100}, 9), std::vector<int>(4, 1));
  join(race, 101);
  const std::vector<int> more = samples_of_rounds(race, {100, 100, 100, 100, 101}, 9);
  EXPECT_EQ(more[4], 1);
  EXPECT_LE(std::accumulate(more.begin(), more.end(), 0), 3);  // with the leader and the sentinel
}

TEST(Admission, WithoutTheBrokenFastestTheOthersAreComparedAnew) {
  Race race = race_of(racing_policy(), {50, 100, 160, 101});
  const std::vector<double> true_us{50, 100, 160, 101};
  EXPECT_EQ(winner_of(run(race, true_us, {}, 1)), 0u);
  EXPECT_EQ(race.result().standings[1].eliminated_in_round, 0);
  race.withdraw({0});
  const RaceResult result = run(race, true_us, {}, 2);
  EXPECT_EQ(winner_of(result), 1u);
  EXPECT_GT(result.standings[1].timing.samples_us.size(), 5u);
  EXPECT_EQ(result.standings[2].eliminated_in_round, 0);
  EXPECT_FALSE(result.standings[3].eliminated_in_round == 0);
}

TEST(Admission, IsTheTimeOfWhoWasNotSampledYet) {
  Race race = race_of(racing_policy(), {100, 120});
  const std::size_t first = race.next(0).candidate.index;
  race.record(99, false);
  const RaceResult result = race.result();
  EXPECT_EQ(result.standings[first].timing.samples_us, std::vector<double>{99});
  EXPECT_EQ(result.standings[1 - first].timing.samples_us.size(), 1u);
  EXPECT_GT(result.standings[1 - first].place, 0);
}

TEST(Admission, MeansNothingToAnExhaustiveRun) {
  RacePolicy policy;
  policy.repeats = 5;
  const RaceResult result = run_admitted(policy, {100, 300}, {}, 1);
  EXPECT_EQ(result.samples_taken, 10);
  EXPECT_FALSE(result.standings[1].eliminated_in_round);
}

TEST(Admission, RefusesATimeThatIsNone) {
  Race race(racing_policy());
  EXPECT_THROW(join(race, 0.0), std::invalid_argument);
  EXPECT_THROW(join(race, std::numeric_limits<double>::infinity()), std::invalid_argument);
  EXPECT_EQ(join(race, 1.0), CandidateId{0});
}

}  // namespace
}  // namespace fatune
