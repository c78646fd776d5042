#include <gtest/gtest.h>

#include <algorithm>

#include "unit/race/simulation.hpp"

namespace fatune {
namespace {

using simulation::Chip;
using simulation::normal_noise;
using simulation::racing_policy;
using simulation::run;

TEST(Finals, AreOfTheBestFewAndOfFreshSamples) {
  Chip chip;
  chip.noise = normal_noise(0.01);
  const RaceResult result = run(racing_policy(), std::vector<double>(30, 100.0), chip, 3);
  int finalists = 0;
  for (const CandidateResult& candidate : result.candidates) {
    finalists += static_cast<int>(candidate.finalist);
    EXPECT_EQ(candidate.finalist, candidate.place <= 8);
    if (candidate.finalist) {
      EXPECT_EQ(candidate.timing.samples_us.size(), static_cast<std::size_t>(result.final_rounds));
    }
  }
  EXPECT_EQ(finalists, 8);
  EXPECT_GE(result.final_rounds, 16);
}

// Forty alike: the least of forty medians is too good to be true, with as many samples as the race
// took too; the fresh samples of the few in the finals are less so.
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
    naive_bias += naive.candidates[simulation::winner_of(naive)].timing.median_us / 100.0 - 1;
    finals_bias += raced.candidates[simulation::winner_of(raced)].timing.median_us / 100.0 - 1;
  }
  naive_bias /= kRaces;
  finals_bias /= kRaces;
  RecordProperty("naive_bias_percent", std::to_string(100 * naive_bias));
  RecordProperty("finals_bias_percent", std::to_string(100 * finals_bias));
  EXPECT_LT(naive_bias, -0.0035);
  EXPECT_GT(finals_bias, -0.005);
  EXPECT_LT(std::abs(finals_bias), 0.9 * std::abs(naive_bias));
}

}  // namespace
}  // namespace fatune
