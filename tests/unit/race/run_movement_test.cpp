// Simulates pairs of runs of the same kernels, and checks which changes are found beyond doubt.
#include "race/comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "model/statistics.hpp"
#include "study_samples.hpp"

namespace fatune {
namespace {

constexpr double kConfidence = 0.95;

/// Two runs of the same configurations. The second run drifts as a whole, and each configuration
/// has a small offset of its own. Samples are noisy. In a race, most configurations have only one.
struct TwoRuns {
  std::size_t configs = 50;
  double drift = 0.05;
  double offset = 0.005;   ///< standard deviation
  double noise = 0.01;     ///< standard deviation of one sample
  bool raced = false;      ///< most have one sample in each run, a few have 28
  double in_finals = 0.0;  ///< drift of those few beyond that of the others
  bool strays = false;     ///< offsets are Student-distributed with 8 degrees of freedom
};

class Simulation {
 public:
  explicit Simulation(unsigned seed) : random_(seed) {}

  std::vector<TimeChange> changes(const TwoRuns& runs) {
    std::vector<TimeChange> all;
    for (std::size_t i = 0; i < runs.configs; ++i) {
      const bool is_finalist = i % 10 == 0;
      const double samples = runs.raced && !is_finalist ? 1.0 : 28.0;
      const double within_sd = runs.noise * std::sqrt(2.0 / samples);
      const double drift = runs.drift + (is_finalist ? runs.in_finals : 0.0);
      const double offset = runs.offset * (runs.strays ? student_(random_) : normal_(random_));
      all.push_back({drift + offset + within_sd * normal_(random_), within_sd});
    }
    return all;
  }

 private:
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
  std::student_t_distribution<double> student_{8.0};
};

std::vector<ChangeBeyondDrift> judge(const std::vector<TimeChange>& changes) {
  return beyond_drift(changes, movements_of(changes, 1), kConfidence);
}

bool is_beyond_doubt(const ChangeBeyondDrift& change) { return change.low > 0 || change.high < 0; }

std::size_t false_alarms(const TwoRuns& runs, std::size_t pairs) {
  Simulation simulation(1);
  std::size_t alarms = 0;
  for (std::size_t i = 0; i < pairs; ++i) {
    const std::vector<ChangeBeyondDrift> all = judge(simulation.changes(runs));
    alarms += std::ranges::any_of(all, is_beyond_doubt) ? 1U : 0U;
  }
  return alarms;
}

class SameKernels : public testing::TestWithParam<TwoRuns> {};

TEST_P(SameKernels, ShowNothingInNineteenOfTwentyPairs) {
  constexpr std::size_t kPairs = 1000;
  EXPECT_LE(false_alarms(GetParam(), kPairs), kPairs / 20);
}

INSTANTIATE_TEST_SUITE_P(
    RunMovement, SameKernels,
    testing::Values(TwoRuns{}, TwoRuns{.configs = 8}, TwoRuns{.configs = 12},
                    TwoRuns{.configs = 20, .raced = true}, TwoRuns{.configs = 300, .raced = true},
                    TwoRuns{.drift = -0.08, .offset = 0.0}, TwoRuns{.offset = 0.02},
                    TwoRuns{.strays = true}, TwoRuns{.configs = 12, .strays = true},
                    TwoRuns{.configs = 300, .raced = true, .strays = true},
                    TwoRuns{.configs = 5, .offset = 0.02},
                    TwoRuns{.configs = 80, .raced = true, .in_finals = -0.02},
                    TwoRuns{.configs = 300, .raced = true, .in_finals = -0.02}));

TEST(RunMovement, AChangeOfThreePercentAmongFiftyIsFoundAndItAlone) {
  constexpr std::size_t kPairs = 200;
  constexpr std::size_t kPlanted = 17;
  Simulation simulation(2);
  std::size_t found = 0;
  for (std::size_t i = 0; i < kPairs; ++i) {
    std::vector<TimeChange> changes = simulation.changes({.offset = 0.002});
    changes[kPlanted].log_ratio += std::log(1.03);
    const std::vector<ChangeBeyondDrift> all = judge(changes);
    found += all[kPlanted].low > 0 && std::ranges::count_if(all, is_beyond_doubt) == 1 ? 1U : 0U;
  }
  EXPECT_GE(found, kPairs * 9 / 10);
}

std::vector<TimeChange> changes_by(const std::vector<double>& log_ratios, std::size_t group = 0) {
  std::vector<TimeChange> changes;
  for (const double log_ratio : log_ratios) {
    changes.push_back({log_ratio, 0.001, group});
  }
  return changes;
}

TEST(RunMovement, WhatAllDoIsDriftAndNoChange) {
  const std::vector<TimeChange> changes = changes_by(std::vector<double>(20, 0.25));
  const std::vector<Movement> movements = movements_of(changes, 1);
  EXPECT_DOUBLE_EQ(movements[0].log_drift, 0.25);
  EXPECT_DOUBLE_EQ(movements[0].spread, kLeastSpread);
  EXPECT_EQ(movements[0].changes, 20U);
  for (const ChangeBeyondDrift& change : beyond_drift(changes, movements, kConfidence)) {
    EXPECT_FALSE(is_beyond_doubt(change));
    EXPECT_DOUBLE_EQ(change.log_ratio, 0.0);
  }
}

TEST(RunMovement, TheSpreadIsWhatSamplesDoNotExplain) {
  constexpr double kOffset = 0.01;
  Simulation simulation(3);
  const auto quiet = simulation.changes({.configs = 4000, .offset = kOffset, .raced = true});
  EXPECT_GT(movements_of(quiet, 1)[0].spread, 0.95 * kOffset);
  EXPECT_LT(movements_of(quiet, 1)[0].spread, 1.5 * kOffset);  // that of the eight best measured
  const auto noise_alone = simulation.changes({.configs = 4000, .offset = 0.0, .raced = true});
  EXPECT_LT(movements_of(noise_alone, 1)[0].spread, 0.004);
}

TEST(RunMovement, EachProblemHasItsOwnAndFewConfigurationsTheUsualSpread) {
  std::vector<TimeChange> changes = changes_by(std::vector<double>(10, 0.1));
  const auto few = changes_by({0.03, 0.04, 0.05}, 1);
  changes.insert(changes.end(), few.begin(), few.end());
  const std::vector<Movement> movements = movements_of(changes, 2);
  EXPECT_DOUBLE_EQ(movements[0].log_drift, 0.1);
  EXPECT_FALSE(movements[0].spread_is_usual);
  EXPECT_DOUBLE_EQ(movements[1].log_drift, 0.04);
  EXPECT_TRUE(movements[1].spread_is_usual);
  EXPECT_DOUBLE_EQ(movements[1].spread, kUsualSpread);
}

TEST(RunMovement, OneOfTwoThatDifferIsNotTold) {
  for (const ChangeBeyondDrift& change : judge(changes_by({0.0, 1.0}))) {
    EXPECT_FALSE(is_beyond_doubt(change));
  }
}

TEST(RunMovement, CopiesDoNotCount) {
  std::vector<TimeChange> changes = changes_by({0.0, 0.0, 0.0, 0.0, 0.2, 0.2, 0.2, 0.2, 0.2});
  for (std::size_t i = 4; i < changes.size(); ++i) {
    changes[i].is_measured = false;
  }
  EXPECT_DOUBLE_EQ(common_movement(changes).log_drift, 0.0);
  EXPECT_EQ(common_movement(changes).changes, 4U);
}

TEST(RunMovement, NothingOfNothing) {
  EXPECT_EQ(common_movement({}).changes, 0U);
  EXPECT_TRUE(beyond_drift({}, {}, kConfidence).empty());
}

constexpr double kSampleSd = 0.02;

/// Draws samples around 100 us. Each keeps the share `kept` of the deviation of the one before.
class Samples {
 public:
  explicit Samples(double kept) : kept_(kept) {}

  Result take(std::size_t count) {
    std::vector<double> samples_us;
    double deviation = normal_(random_);
    for (std::size_t i = 0; i < count; ++i) {
      samples_us.push_back(100.0 * std::exp(kSampleSd * deviation));
      deviation = kept_ * deviation + std::sqrt(1.0 - kept_ * kept_) * normal_(random_);
    }
    Result result = study_result(100.0);
    std::get<Measured>(result.outcome).timing = summarise(std::move(samples_us), 0.95);
    return result;
  }

  ProblemReport problem(std::size_t configs, std::size_t count) {
    std::vector<Result> ranking;
    for (std::size_t i = 0; i < configs; ++i) {
      ranking.push_back(take(count));
    }
    return study_problem(std::move(ranking));
  }

 private:
  double kept_;
  std::mt19937 random_{1};
  std::normal_distribution<double> normal_;
};

TEST(RunNoise, IsThatOfASampleAndOfTheNext) {
  const RunNoise calm = noise_of(Samples(0.0).problem(50, 60));
  EXPECT_NEAR(calm.sample_sd, kSampleSd, 0.001);
  EXPECT_LT(calm.correlation, 0.05);
  const RunNoise sticky = noise_of(Samples(0.6).problem(50, 60));
  EXPECT_NEAR(sticky.correlation, 0.6, 0.08);
}

TEST(RunNoise, OfTooFewSamplesIsTheUsualOne) {
  const RunNoise noise = noise_of(Samples(0.0).problem(5, 3));
  EXPECT_EQ(noise.sample_sd, 0.01);
  EXPECT_EQ(noise.correlation, 0.0);
}

/// Medians of 30 samples each stray as far as their standard deviation says, however correlated
/// successive samples are.
TEST(MedianSd, SaysHowFarMediansStray) {
  for (const double kept : {0.0, 0.5, 0.8}) {
    const ProblemReport problem = Samples(kept).problem(400, 30);
    const RunNoise noise = noise_of(problem);
    double squares = 0.0;
    double said = 0.0;
    for (const Result& result : problem.ranking) {
      squares += std::pow(std::log(std::get<Measured>(result.outcome).timing.median_us / 100.0), 2);
      said += std::pow(median_sd(result, noise), 2);
    }
    EXPECT_GT(said, 0.85 * squares) << kept;
    EXPECT_LT(said, 2.0 * squares) << kept;
  }
}

TEST(MedianSd, AFewLikeSamplesAreWorthLittleWhereOthersStray) {
  Result calm = study_result(100.0);
  std::get<Measured>(calm.outcome).timing =
      summarise({100.0, 100.1, 100.0, 99.9, 100.0, 100.1, 99.9, 100.0}, 0.95);
  EXPECT_LT(median_sd(calm, {0.0005, 0.0}), 0.001);
  EXPECT_GT(median_sd(calm, {kSampleSd, 0.6}), 0.01);
}

TEST(MedianSd, WithoutSamplesIsThatOfTheInterval) {
  Result result = study_result(100.0);
  Timing& timing = std::get<Measured>(result.outcome).timing;
  timing.median_low_us = 99.0;
  timing.median_high_us = 101.0;
  timing.confidence = 0.95;
  EXPECT_NEAR(median_sd(result, {0.05, 0.5}), 0.01 / 1.96, 0.0001);
}

TEST(MedianSd, OfAFailureIsZero) { EXPECT_EQ(median_sd(Result{}, {0.01, 0.0}), 0.0); }

}  // namespace
}  // namespace fatune
