#include "race/race.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <set>
#include <stdexcept>

#include "unit/race/simulation.hpp"

namespace fatune {
namespace {

using simulation::Chip;
using simulation::join;
using simulation::normal_noise;
using simulation::racing_policy;
using simulation::run;
using simulation::winner_of;
using ::testing::HasSubstr;

std::vector<double> spread(std::size_t n, double step) {
  std::vector<double> true_us(n);
  for (std::size_t i = 0; i < n; ++i) {
    true_us[i] = 1000.0 * (1.0 + step * static_cast<double>(i));
  }
  return true_us;
}

RacePolicy exhaustive_policy() { return {}; }

TEST(Race, ExhaustiveGivesEveryCandidateItsFixedNumber) {
  const RaceResult result = run(exhaustive_policy(), spread(10, 0.1), {}, 1);
  EXPECT_EQ(result.rounds, 64);
  EXPECT_EQ(result.final_rounds, 0);
  EXPECT_EQ(result.samples_taken, 640);
  EXPECT_EQ(result.stopped_because, StopReason::fixed_count);
  for (const Standing& candidate : result.standings) {
    EXPECT_EQ(candidate.timing.samples_us.size(), 64u);
    EXPECT_EQ(candidate.timing.stopped_because, "fixed count");
    EXPECT_EQ(candidate.place, static_cast<int>(candidate.candidate.index) + 1);
    EXPECT_FALSE(candidate.eliminated_in_round);
  }
}

TEST(Race, EveryRoundHasEachCandidateOnceInAnOrderOfItsOwn) {
  Race race(exhaustive_policy());
  constexpr std::size_t kCandidates = 8;
  for (std::size_t i = 0; i < kCandidates; ++i) {
    join(race);
  }
  race.close();
  std::set<std::vector<std::size_t>> orders;
  for (int round = 0; round < 5; ++round) {
    std::vector<std::size_t> order;
    std::optional<CandidateId> foretold;
    for (std::size_t i = 0; i < kCandidates; ++i) {
      const Step step = race.next(0);
      ASSERT_EQ(step.kind, Step::Kind::sample);
      EXPECT_EQ(step.candidate, foretold.value_or(step.candidate));
      EXPECT_EQ(step.then.has_value(), i + 1 < kCandidates) << "within the round";
      foretold = step.then;
      EXPECT_EQ(race.next(0).candidate.index,
                step.candidate.index);  // asking twice changes nothing
      order.push_back(step.candidate.index);
      race.record(100, false);
    }
    orders.insert(order);
    EXPECT_EQ(std::set(order.begin(), order.end()).size(), kCandidates);
  }
  EXPECT_GT(orders.size(), 3u);
}

TEST(Race, DropsLosersEarlyAndRanksThemBehind) {
  Chip chip;
  chip.noise = normal_noise(0.005);
  const RaceResult result = run(racing_policy(), spread(40, 0.05), chip, 1);
  EXPECT_EQ(winner_of(result), 0u);
  for (std::size_t i = 1; i < 40; ++i) {
    const Standing& loser = result.standings[i];
    ASSERT_TRUE(loser.eliminated_in_round) << i;
    EXPECT_LE(*loser.eliminated_in_round, i == 1 ? 15 : 3);  // 1 is at the gross margin
    EXPECT_LE(loser.timing.samples_us.size(), static_cast<std::size_t>(*loser.eliminated_in_round));
    EXPECT_THAT(loser.timing.stopped_because, HasSubstr("eliminated in round"));
    EXPECT_EQ(loser.place, static_cast<int>(i) + 1);
    EXPECT_GT(loser.tie_group, 1);
  }
  EXPECT_TRUE(result.standings[0].finalist);
  EXPECT_EQ(result.standings[0].tie_group, 1);
}

TEST(Race, SavesMostOfTheSamplesOfAnExhaustiveRun) {
  Chip chip;
  chip.noise = normal_noise(0.005);
  const std::vector<double> true_us = spread(40, 0.01);
  const auto raced = run(racing_policy(), true_us, chip, 2).samples_taken;
  const auto exhaustive = run(exhaustive_policy(), true_us, chip, 2).samples_taken;
  RecordProperty("race_samples", std::to_string(raced));
  RecordProperty("exhaustive_samples", std::to_string(exhaustive));
  EXPECT_EQ(exhaustive, 40 * 64);
  EXPECT_LT(raced, exhaustive / 8);
}

TEST(Race, TheSameSeedsGiveTheSameRace) {
  Chip chip;
  chip.noise = normal_noise(0.01);
  const std::vector<double> true_us = spread(20, 0.004);
  const RaceResult a = run(racing_policy(5), true_us, chip, 9);
  const RaceResult b = run(racing_policy(5), true_us, chip, 9);
  const RaceResult other = run(racing_policy(6), true_us, chip, 9);
  EXPECT_EQ(a.samples_taken, b.samples_taken);
  EXPECT_EQ(a.rounds, b.rounds);
  for (std::size_t i = 0; i < true_us.size(); ++i) {
    EXPECT_EQ(a.standings[i].timing.samples_us, b.standings[i].timing.samples_us);
    EXPECT_EQ(a.standings[i].place, b.standings[i].place);
  }
  EXPECT_NE(a.standings[0].timing.samples_us, other.standings[0].timing.samples_us);
}

TEST(Race, AnswersWithTheIdsThatItIsTold) {
  Race race(racing_policy());
  race.admit({7}, 100);
  race.admit({2}, 101);
  EXPECT_THROW(race.admit({7}, 100), std::invalid_argument);
  race.close();
  EXPECT_EQ(winner_of(run(race, {9, 9, 101, 9, 9, 9, 9, 100}, {}, 1)), 7u);
  const std::vector<Standing> standings = race.result().standings;
  ASSERT_EQ(standings.size(), 2u);
  EXPECT_EQ(standings[0].candidate, CandidateId{7});
  EXPECT_EQ(standings[1].candidate, CandidateId{2});
}

TEST(Race, CandidatesJoinWhileItRuns) {
  Race race(racing_policy());
  EXPECT_EQ(race.next(0).kind, Step::Kind::wait);
  join(race);
  for (int i = 0; i < 20; ++i) {  // samples one candidate until it is precise, then waits
    const Step step = race.next(0);
    if (step.kind == Step::Kind::wait) {
      break;
    }
    race.record(100, false);
  }
  EXPECT_EQ(race.next(0).kind, Step::Kind::wait);
  EXPECT_EQ(join(race), CandidateId{1});
  EXPECT_EQ(race.next(0).kind, Step::Kind::sample);
  race.close();
  const RaceResult result = run(race, {100, 80}, {}, 1);
  EXPECT_EQ(winner_of(result), 1u);
  EXPECT_TRUE(result.standings[0].eliminated_in_round);
  EXPECT_THROW(join(race), std::logic_error);
}

TEST(Race, ClonesShareATieGroupAndDifferentOnesDoNot) {
  Chip chip;
  chip.noise = normal_noise(0.003);
  const RaceResult result = run(racing_policy(), {100, 100, 100, 120, 120}, chip, 4);
  for (const std::size_t clone : {0u, 1u, 2u}) {
    EXPECT_EQ(result.standings[clone].tie_group, 1) << clone;
  }
  EXPECT_EQ(result.standings[3].tie_group, 2);
  EXPECT_EQ(result.standings[4].tie_group, 2);
}

TEST(Race, TiesSeeThroughDriftInExhaustiveRunsToo) {
  Chip chip;
  chip.noise = normal_noise(0.001);
  chip.state = [](std::int64_t n, auto&) { return 1.0 + 1e-4 * static_cast<double>(n); };
  const RaceResult result = run(exhaustive_policy(), {100, 101.5, 100}, chip, 4);
  EXPECT_EQ(result.standings[0].tie_group, 1);
  EXPECT_EQ(result.standings[2].tie_group, 1);
  EXPECT_EQ(result.standings[1].tie_group, 2);
  EXPECT_NEAR(result.drift_percent, 1.5, 0.5);
}

TEST(Race, RefusesWhatMakesNoSense) {
  RacePolicy policy;
  policy.target_ci = 0;
  EXPECT_THROW(Race{policy}, std::invalid_argument);
  policy = {};
  policy.budget_s = -1.0;
  EXPECT_THROW(Race{policy}, std::invalid_argument);
  policy = {};
  policy.gross_margin = policy.margin;
  EXPECT_THROW(Race{policy}, std::invalid_argument);
  policy = {};
  policy.chances.gross = 0.0;
  EXPECT_THROW(Race{policy}, std::invalid_argument);
  policy = {};
  policy.hopeless_margin = 0.05;
  EXPECT_THROW(Race{policy}, std::invalid_argument);
  policy = {};
  policy.chances.hopeless = 0.1;
  EXPECT_THROW(Race{policy}, std::invalid_argument);
  policy = {};
  policy.race_ci = 0.0;
  EXPECT_THROW(Race{policy}, std::invalid_argument);
  policy = {};
  policy.least_race_samples = 0;
  EXPECT_THROW(Race{policy}, std::invalid_argument);
  Race race({});
  EXPECT_THROW(race.record(100, false), std::logic_error);
  join(race);
  ASSERT_EQ(race.next(0).kind, Step::Kind::sample);
  EXPECT_THROW(race.record(0, false), std::invalid_argument);
  EXPECT_THROW(race.record(std::numeric_limits<double>::quiet_NaN(), false), std::invalid_argument);
}

TEST(Race, ResultBeforeTheEndHasWhatWasTaken) {
  Race race({});
  join(race);
  join(race);
  const std::size_t first = race.next(0).candidate.index;
  race.record(100, false);
  const RaceResult result = race.result();
  EXPECT_EQ(result.stopped_because, StopReason::not_yet);
  EXPECT_EQ(result.standings[first].timing.samples_us, std::vector<double>{100});
  EXPECT_EQ(result.standings[first].place, 1);
  EXPECT_EQ(result.standings[1 - first].place, 0);
  EXPECT_TRUE(result.standings[1 - first].timing.samples_us.empty());
}

}  // namespace
}  // namespace fatune
