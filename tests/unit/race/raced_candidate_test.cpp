#include "race/race_state.hpp"

#include <gtest/gtest.h>

#include "race/round_course.hpp"
#include "unit/race/simulation.hpp"

namespace fatune {
namespace {

Series series_of(const std::vector<double>& samples_us, int first_round = 1) {
  Series series;
  for (const double sample_us : samples_us) {
    series.add(first_round++, sample_us);
  }
  return series;
}

TEST(Precision, TooFewSamplesHaveNoWidth) {
  EXPECT_FALSE(relative_half_width(Series{}, 0.95));
  EXPECT_FALSE(relative_half_width(series_of({1, 2, 3, 4, 5}), 0.95));
  const auto width = relative_half_width(series_of({98, 99, 100, 100, 101, 102}), 0.95);
  ASSERT_TRUE(width);
  EXPECT_DOUBLE_EQ(*width, 0.02);  // the interval of six samples spans them all
}

TEST(Precision, DriftStopsTheNarrowingAndIndependentNoiseDoesNot) {
  std::mt19937_64 random(3);
  const auto noise = simulation::normal_noise(0.02);
  std::vector<double> steady;
  std::vector<double> drifting;
  for (int i = 0; i < 512; ++i) {
    steady.push_back(100 * noise(random));
    drifting.push_back(100 * (1 + 0.001 * i) * noise(random));
  }
  EXPECT_FALSE(stopped_narrowing(series_of(steady), 0.95));
  EXPECT_TRUE(stopped_narrowing(series_of(drifting), 0.95));
  EXPECT_FALSE(stopped_narrowing(series_of({1, 2, 3}), 0.95));
}

TEST(Precision, RatiosPairTheSamplesOfTheSameRound) {
  RacedCandidate a;
  RacedCandidate b;
  a.race = series_of({10, 20, 30}, 1);
  b.race = series_of({10, 10, 10}, 2);
  EXPECT_EQ(paired_ratios(a, b), (std::vector<double>{2, 3}));
  a.finals = series_of({8}, 1);
  EXPECT_EQ(paired_ratios(a, b).size(), 2u);  // one sample in the finals makes no pair
  b.finals = series_of({4}, 1);
  EXPECT_EQ(paired_ratios(a, b), (std::vector<double>{2}));
}

// Drift of 20 % over the race hides a difference of 1 % in the intervals, but not in the pairs.
TEST(Precision, PairsSeeThroughDrift) {
  std::mt19937_64 random(5);
  const auto noise = simulation::normal_noise(0.002);
  RacedCandidate fast;
  RacedCandidate slow;
  for (int round = 1; round <= 40; ++round) {
    const double state = 1 + 0.005 * round;
    fast.race.add(round, 100 * state * noise(random));
    slow.race.add(round, 101 * state * noise(random));
  }
  const auto ratio = ratio_interval(slow, fast, 0.95);
  ASSERT_TRUE(ratio);
  EXPECT_GT(ratio->low, 1.005);
  EXPECT_LT(ratio->high, 1.015);
  EXPECT_GT(*relative_half_width(slow.race, 0.95), 0.02);
}

TEST(Sentinel, JudgesAfterFiveSamplesAndBelievesALastingChange) {
  Sentinel sentinel(0.03);
  for (int i = 0; i < 4; ++i) {
    sentinel.add(100);
    EXPECT_FALSE(sentinel.is_off(200));
  }
  sentinel.add(100);
  EXPECT_TRUE(sentinel.is_off(103.1));
  EXPECT_TRUE(sentinel.is_off(96.9));
  EXPECT_FALSE(sentinel.is_off(102.9));
  for (int i = 0; i < 6; ++i) {
    sentinel.add(110);
  }
  EXPECT_FALSE(sentinel.is_off(110));
}

TEST(Sentinel, DriftIsOfTheEnds) {
  Sentinel sentinel(0.03);
  EXPECT_EQ(sentinel.drift_percent(), 0.0);
  for (int i = 0; i < 20; ++i) {
    sentinel.add(100 + i);
  }
  EXPECT_NEAR(sentinel.drift_percent(), 100 * (117.0 / 102.0 - 1), 1e-9);
}

}  // namespace
}  // namespace fatune
