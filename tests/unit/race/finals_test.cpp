#include <gtest/gtest.h>

#include <algorithm>

#include "unit/race/simulation.hpp"

namespace fatune {
namespace {

using simulation::Chip;
using simulation::join;
using simulation::normal_noise;
using simulation::racing_policy;
using simulation::run;

TEST(Finals, AreOfTheBestFewAndOfFreshSamples) {
  Chip chip;
  chip.noise = normal_noise(0.01);
  const RaceResult result = run(racing_policy(), std::vector<double>(30, 100.0), chip, 3);
  int finalists = 0;
  for (const Standing& candidate : result.standings) {
    finalists += static_cast<int>(candidate.finalist);
    EXPECT_EQ(candidate.finalist, candidate.place <= 8);
    if (candidate.finalist && !candidate.eliminated_in_round) {
      EXPECT_EQ(candidate.timing.samples_us.size(), static_cast<std::size_t>(result.final_rounds));
    }
  }
  EXPECT_EQ(finalists, 8);
  EXPECT_GE(result.final_rounds, 8);
}

// Candidate 1 is 2 % behind. Its elimination takes eleven losses in a row, and the three rounds of
// the race are not enough.
TEST(Finals, AreLeftEarlyByWhoCannotWin) {
  Chip chip;
  chip.noise = normal_noise(0.004);
  RacePolicy policy = racing_policy();
  policy.target_ci = 0.001;
  const RaceResult result = run(policy, {100, 102, 100}, chip, 5);
  const Standing& slow = result.standings[1];
  EXPECT_TRUE(slow.finalist);
  ASSERT_TRUE(slow.eliminated_in_round);
  EXPECT_EQ(slow.place, 3);
  EXPECT_EQ(slow.timing.samples_us.size(),
            static_cast<std::size_t>(*slow.eliminated_in_round - result.rounds));
  EXPECT_LT(slow.timing.samples_us.size(), static_cast<std::size_t>(result.final_rounds));
  EXPECT_FALSE(result.standings[0].eliminated_in_round);
}

// Three candidates are equal. Seven are 1.2 % behind, and not yet eliminated when the race is
// precise enough.
TEST(Finals, AreOfThoseWhoCanStillWin) {
  Chip chip;
  chip.noise = normal_noise(0.002);
  std::vector<double> true_us(10, 101.2);
  std::fill_n(true_us.begin(), 3, 100.0);
  Race race(racing_policy());
  for (std::size_t i = 0; i < true_us.size(); ++i) {
    join(race);
  }
  race.close();
  const RaceResult result = run(race, true_us, chip, 5);
  for (const Standing& candidate : result.standings) {
    EXPECT_EQ(candidate.finalist, candidate.candidate.index < 3);
    EXPECT_FALSE(candidate.eliminated_in_round);
    EXPECT_EQ(candidate.place <= 3, candidate.finalist);
  }
  for (const std::size_t broken : {0u, 1u, 2u}) {  // then the others have their own finals
    race.withdraw({broken});
  }
  const RaceResult second = run(race, true_us, chip, 6);
  EXPECT_EQ(second.standings[0].place, 0);
  EXPECT_TRUE(second.standings[3].finalist);
}

// Forty candidates are equal. The least of forty medians is too low, even with as many samples as
// the race took. The fresh samples of the few finalists have less bias.
TEST(Finals, BoundTheWinnersCurse) {
  constexpr int kRaces = 60;
  Chip chip;
  chip.noise = normal_noise(0.02);
  const std::vector<double> true_us(40, 100.0);
  double naive_bias = 0.0;
  double finals_bias = 0.0;
  for (std::uint64_t seed = 1; seed <= kRaces; ++seed) {
    const RaceResult raced = run(racing_policy(seed), true_us, chip, seed + 1000);
    RacePolicy exhaustive;
    exhaustive.repeats = raced.rounds;
    const RaceResult naive = run(exhaustive, true_us, chip, seed);
    naive_bias += naive.standings[simulation::winner_of(naive)].timing.median_us / 100.0 - 1;
    finals_bias += raced.standings[simulation::winner_of(raced)].timing.median_us / 100.0 - 1;
  }
  naive_bias /= kRaces;
  finals_bias /= kRaces;
  RecordProperty("naive_bias_percent", std::to_string(100 * naive_bias));
  RecordProperty("finals_bias_percent", std::to_string(100 * finals_bias));
  EXPECT_LT(naive_bias, -0.0035);
  EXPECT_GT(finals_bias, -0.005);
  EXPECT_LT(std::abs(finals_bias), 0.9 * std::abs(naive_bias));
}

// Forty candidates, the fastest ten within 0.5 %, and a slow one that is kept in because its time
// is wanted.
TEST(Finals, HaveOneThatIsKeptInHoweverFarBehindItIs) {
  Chip chip;
  chip.noise = normal_noise(0.004);
  Race race(racing_policy());
  std::vector<double> true_us;
  for (std::size_t i = 0; i < 40; ++i) {
    true_us.push_back(100.0 + 0.05 * static_cast<double>(i));
    join(race, true_us.back(), false);
  }
  true_us.push_back(170.0);
  const std::size_t kept = join(race, true_us.back(), true).index;
  race.close();
  const RaceResult result = run(race, true_us, chip, 5);
  const Standing& candidate = result.standings[kept];
  EXPECT_TRUE(candidate.finalist);
  EXPECT_FALSE(candidate.eliminated_in_round);
  EXPECT_EQ(candidate.timing.samples_us.size(), static_cast<std::size_t>(result.final_rounds));
  EXPECT_NEAR(candidate.timing.median_us, 170.0, 1.0);
  EXPECT_GT(candidate.tie_group, 1);
  ASSERT_TRUE(candidate.to_fastest);
  EXPECT_NEAR(candidate.to_fastest->low, 1.7, 0.02);
  EXPECT_NEAR(candidate.to_fastest->high, 1.7, 0.02);
  EXPECT_LE(candidate.timing.median_high_us - candidate.timing.median_low_us, 2 * 0.005 * 170.0);
}

}  // namespace
}  // namespace fatune
