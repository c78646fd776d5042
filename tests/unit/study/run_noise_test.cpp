#include "study/run_noise.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/statistics.hpp"
#include "study_samples.hpp"

namespace fatune {
namespace {

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
