#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "unit/race/simulation.hpp"

namespace fatune {
namespace {

using simulation::Chip;
using simulation::join;
using simulation::normal_noise;
using simulation::racing_policy;
using simulation::run;
using ::testing::HasSubstr;

Chip noisy(double relative_sigma) {
  Chip chip;
  chip.noise = normal_noise(relative_sigma);
  return chip;
}

double half_width(const Timing& timing) {
  return (timing.median_high_us - timing.median_low_us) / (2 * timing.median_us);
}

TEST(Stop, TargetIsReachedByTheWinnerAndThoseTiedWithIt) {
  const RaceResult result = run(racing_policy(), {100, 100.2, 130}, noisy(0.01), 3);
  EXPECT_EQ(result.stopped_because, StopReason::target);
  EXPECT_LE(half_width(result.standings[0].timing), 0.005);
  EXPECT_LE(half_width(result.standings[1].timing), 0.005);
  EXPECT_EQ(result.standings[0].timing.stopped_because, "target reached");
}

TEST(Stop, FinalsThatHaveOnlyBegunHaveReachedNothing) {
  Race race(racing_policy());
  join(race);
  join(race);
  race.close();
  for (int i = 0; race.result().final_rounds == 0; ++i) {
    ASSERT_EQ(race.next(0).kind, Step::Kind::sample);
    race.record(100.0 + i % 7, false);
  }
  const RaceResult result = race.result();
  EXPECT_EQ(result.stopped_because, StopReason::not_yet);
  EXPECT_EQ(result.standings[0].timing.stopped_because, "interrupted");
}

// Candidate 1 is slower in seven rounds of eight, by 1 % or by 4.9 %. Its time is too noisy to be
// known to 0.5 %, but it is certainly not the winner.
TEST(Stop, WhoIsToldApartNeedNotBePrecise) {
  constexpr std::array<double, 8> kSlow{101, 104.9, 101, 104.9, 99.9, 104.9, 101, 104.9};
  Race race(racing_policy());
  join(race);
  join(race);
  race.close();
  std::size_t taken = 0;
  for (Step step = race.next(0); step.kind == Step::Kind::sample; step = race.next(0)) {
    race.record(step.candidate.index == 0 ? 100 : kSlow[taken++ % kSlow.size()], false);
  }
  const RaceResult result = race.result();
  EXPECT_EQ(result.stopped_because, StopReason::target);
  EXPECT_LT(result.final_rounds, 16);
  EXPECT_FALSE(result.standings[1].eliminated_in_round);
  EXPECT_EQ(result.standings[1].tie_group, 2);
  EXPECT_GT(half_width(result.standings[1].timing), 0.005);
}

TEST(Stop, ATighterTargetTakesMoreSamples) {
  RacePolicy tight = racing_policy();
  tight.target_ci = 0.002;
  EXPECT_GT(run(tight, {100, 100.1}, noisy(0.01), 3).samples_taken,
            2 * run(racing_policy(), {100, 100.1}, noisy(0.01), 3).samples_taken);
}

TEST(Stop, NoiseThatDoesNotFallEndsIt) {
  Chip chip = noisy(0.01);
  chip.state = [](std::int64_t n, auto&) { return 1.0 + 0.002 * static_cast<double>(n); };
  const RaceResult result = run(racing_policy(), {100, 100, 100}, chip, 3);
  EXPECT_EQ(result.stopped_because, StopReason::noise);
  EXPECT_LT(result.rounds, 300);
  EXPECT_GT(result.drift_percent, 10);
}

TEST(Stop, RoundLimitEndsIt) {
  RacePolicy policy = racing_policy();
  policy.most_rounds = 50;
  policy.target_ci = 1e-6;
  policy.race_ci = 1e-6;
  const RaceResult result = run(policy, std::vector<double>(12, 100.0), noisy(0.01), 3);
  EXPECT_EQ(result.stopped_because, StopReason::round_limit);
  EXPECT_EQ(result.rounds, 50);
  EXPECT_EQ(result.final_rounds, 50);
}

TEST(Stop, BudgetEndsItAndLeavesTimeForTheFinals) {
  RacePolicy policy = racing_policy();
  policy.target_ci = 1e-6;
  policy.race_ci = 1e-6;
  policy.budget_s = 0.04;  // 400 samples
  const RaceResult result = run(policy, std::vector<double>(10, 100.0), noisy(0.01), 3);
  EXPECT_EQ(result.stopped_because, StopReason::budget);
  EXPECT_NEAR(result.rounds, 28, 2);
  EXPECT_NEAR(result.final_rounds, 15, 2);
  EXPECT_LT(result.elapsed_s, 0.0403);
  EXPECT_EQ(result.standings[simulation::winner_of(result)].timing.samples_us.size(),
            static_cast<std::size_t>(result.final_rounds));
}

TEST(Stop, BudgetTooShortForFinalsKeepsTheSamplesOfTheRace) {
  RacePolicy policy = racing_policy();
  policy.target_ci = 1e-6;
  policy.budget_s = 0.003;  // 30 samples: 5 rounds, 2 finals
  const RaceResult result = run(policy, {100, 100, 100, 100}, noisy(0.01), 3);
  EXPECT_EQ(result.stopped_because, StopReason::budget);
  EXPECT_EQ(result.final_rounds, 0);
  EXPECT_EQ(result.standings[2].timing.samples_us.size(), static_cast<std::size_t>(result.rounds));
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_THAT(result.warnings[0], HasSubstr("those of the race"));
}

TEST(Stop, EveryCandidateGetsASampleWhateverTheBudget) {
  for (const Strategy strategy : {Strategy::race, Strategy::exhaustive}) {
    RacePolicy policy = racing_policy();
    policy.strategy = strategy;
    policy.budget_s = 1e-9;
    const RaceResult result = run(policy, std::vector<double>(30, 100.0), noisy(0.01), 3);
    EXPECT_EQ(result.stopped_because, StopReason::budget);
    EXPECT_EQ(result.samples_taken, 30);
    for (const Standing& candidate : result.standings) {
      EXPECT_EQ(candidate.timing.samples_us.size(), 1u);
      EXPECT_GT(candidate.place, 0);
    }
  }
}

TEST(Stop, ALateCandidateGetsASampleAfterTheBudget) {
  RacePolicy policy = racing_policy();
  policy.budget_s = 1.0;
  Race race(policy);
  join(race);
  ASSERT_EQ(race.next(0).kind, Step::Kind::sample);
  race.record(100, false);
  EXPECT_EQ(race.next(2.0).kind, Step::Kind::wait);
  const std::size_t late = join(race).index;
  race.close();
  int samples = 0;
  for (Step step = race.next(2.0); step.kind == Step::Kind::sample; step = race.next(2.0)) {
    race.record(90, false);
    ++samples;
  }
  EXPECT_EQ(samples, 2);  // one is the sentinel's
  EXPECT_EQ(race.result().standings[late].timing.samples_us.size(), 1u);
}

}  // namespace
}  // namespace fatune
