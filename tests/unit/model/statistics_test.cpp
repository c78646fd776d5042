#include "model/statistics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <stdexcept>

namespace fatune {
namespace {

using ::testing::ElementsAre;

std::vector<double> ascending(int n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>(i + 1);
  }
  return values;
}

TEST(Statistics, MedianOfOddAndEvenCounts) {
  EXPECT_DOUBLE_EQ(median_of_sorted(std::vector{7.0}), 7.0);
  EXPECT_DOUBLE_EQ(median_of_sorted(std::vector{1.0, 2.0, 9.0}), 2.0);
  EXPECT_DOUBLE_EQ(median_of_sorted(std::vector{1.0, 2.0, 4.0, 9.0}), 3.0);
}

// Expected values: sums of binomial coefficients in exact integer arithmetic.
TEST(Statistics, IntervalRanksAreThoseOfTheBinomial) {
  struct Case {
    int n;
    double low, high, confidence;
  };
  for (const Case& c : {Case{6, 1, 6, 0.96875}, Case{10, 2, 9, 0.978515625},
                        Case{20, 6, 15, 0.958610534667969}, Case{64, 24, 41, 0.967234240901178}}) {
    const MedianInterval interval = median_interval(ascending(c.n), 0.95);
    EXPECT_EQ(interval.low, c.low) << "n = " << c.n;
    EXPECT_EQ(interval.high, c.high) << "n = " << c.n;
    EXPECT_NEAR(interval.confidence, c.confidence, 1e-12) << "n = " << c.n;
    EXPECT_GE(interval.confidence, 0.95) << "n = " << c.n;
  }
}

TEST(Statistics, TooFewSamplesGiveTheExtremesAndTheirTrueConfidence) {
  const MedianInterval interval = median_interval(ascending(5), 0.95);
  EXPECT_EQ(interval.low, 1.0);
  EXPECT_EQ(interval.high, 5.0);
  EXPECT_DOUBLE_EQ(interval.confidence, 1 - std::pow(2.0, -4));
  EXPECT_DOUBLE_EQ(median_interval(ascending(1), 0.95).confidence, 0.0);
}

TEST(Statistics, IntervalOfManySamplesDoesNotUnderflow) {
  const MedianInterval interval = median_interval(ascending(10001), 0.95);
  // Normal approximation: 5001 -+ 1.96 * sqrt(10001) / 2.
  EXPECT_NEAR(interval.low, 5001 - 98, 1.5);
  EXPECT_NEAR(interval.high, 5001 + 98, 1.5);
}

using Draw = std::function<double(std::mt19937_64&)>;

// Returns the share of experiments whose interval holds the true median.
double coverage(const Draw& draw, double true_median, std::size_t n, double confidence) {
  constexpr int kExperiments = 4000;
  std::mt19937_64 random(12345);
  int held = 0;
  std::vector<double> samples(n);
  for (int i = 0; i < kExperiments; ++i) {
    std::generate(samples.begin(), samples.end(), [&] { return draw(random); });
    std::sort(samples.begin(), samples.end());
    const MedianInterval interval = median_interval(samples, confidence);
    held += static_cast<int>(interval.low <= true_median && true_median <= interval.high);
  }
  return static_cast<double>(held) / kExperiments;
}

// For any distribution, the coverage is at least as requested, and not much more (ranks are
// discrete).
TEST(Statistics, IntervalCoversTheMedianAsOftenAsItSays) {
  const Draw normal = [](auto& random) { return std::normal_distribution<>(100, 3)(random); };
  const Draw skewed = [](auto& random) { return std::exponential_distribution<>(1)(random); };
  const Draw heavy_tailed = [](auto& random) { return std::cauchy_distribution<>(5, 1)(random); };
  // Two clocks: most samples fast, some slow.
  const Draw bimodal = [](auto& random) {
    const double base = std::bernoulli_distribution(0.3)(random) ? 120 : 100;
    return base + std::uniform_real_distribution<>(0, 10)(random);
  };
  struct Case {
    const char* name;
    Draw draw;
    double median;
  };
  for (const Case& c :
       {Case{"normal", normal, 100}, Case{"exponential", skewed, std::log(2.0)},
        Case{"cauchy", heavy_tailed, 5}, Case{"bimodal", bimodal, 100 + 10 * 0.5 / 0.7}}) {
    for (const double confidence : {0.9, 0.95, 0.99}) {
      const double covered = coverage(c.draw, c.median, 64, confidence);
      const double promised = median_interval(ascending(64), confidence).confidence;
      EXPECT_NEAR(covered, promised, 0.015) << c.name << " at " << confidence;
      EXPECT_GE(promised, confidence);
    }
  }
}

TEST(Statistics, SummaryOfKnownSamples) {
  const Timing timing = summarise({4.0, 2.0, 9.0, 5.0, 5.0}, 0.9);
  EXPECT_DOUBLE_EQ(timing.median_us, 5.0);
  EXPECT_DOUBLE_EQ(timing.mean_us, 5.0);
  EXPECT_DOUBLE_EQ(timing.min_us, 2.0);
  EXPECT_DOUBLE_EQ(timing.max_us, 9.0);
  EXPECT_DOUBLE_EQ(timing.stddev_us, std::sqrt((1 + 9 + 16) / 4.0));
  EXPECT_DOUBLE_EQ(timing.median_low_us, 2.0);
  EXPECT_DOUBLE_EQ(timing.median_high_us, 9.0);
  EXPECT_THAT(timing.samples_us, ElementsAre(4.0, 2.0, 9.0, 5.0, 5.0)) << "in the order taken";
}

TEST(Statistics, OneSampleHasNoSpread) {
  const Timing timing = summarise({3.5}, 0.95);
  EXPECT_DOUBLE_EQ(timing.stddev_us, 0.0);
  EXPECT_DOUBLE_EQ(timing.median_low_us, 3.5);
  EXPECT_DOUBLE_EQ(timing.median_high_us, 3.5);
}

TEST(Statistics, OfAMedianAloneThereAreNoSamples) {
  const Timing timing = timing_of_median(3.5);
  EXPECT_TRUE(timing.samples_us.empty());
  EXPECT_DOUBLE_EQ(timing.median_us, 3.5);
  EXPECT_EQ(timing.sample_count, 0);
  EXPECT_EQ(timing.median_low_us, 0.0) << "not known";
  EXPECT_EQ(timing.median_high_us, 0.0);
}

TEST(Summarise, AllTimesScale) {
  Timing timing = summarise({4.0, 2.0, 9.0, 5.0, 5.0}, 0.9);
  scale(2.0, timing);
  const Timing expected = summarise({8.0, 4.0, 18.0, 10.0, 10.0}, 0.9);
  EXPECT_EQ(timing.samples_us, expected.samples_us);
  EXPECT_EQ(timing.median_us, expected.median_us);
  EXPECT_DOUBLE_EQ(timing.mean_us, expected.mean_us);
  EXPECT_EQ(timing.min_us, expected.min_us);
  EXPECT_EQ(timing.max_us, expected.max_us);
  EXPECT_DOUBLE_EQ(timing.stddev_us, expected.stddev_us);
  EXPECT_EQ(timing.median_low_us, expected.median_low_us);
  EXPECT_EQ(timing.median_high_us, expected.median_high_us);
  EXPECT_EQ(timing.confidence, expected.confidence);
}

TEST(Statistics, NothingAndNonsenseAreRefused) {
  EXPECT_THROW(static_cast<void>(summarise({}, 0.95)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(summarise({1.0, std::numeric_limits<double>::quiet_NaN()}, 0.95)),
               std::invalid_argument);
}

TEST(FiveNumbers, InterpolatesQuartiles) {
  const FiveNumbers numbers = five_numbers({4.0, 1.0, 3.0, 10.0});
  EXPECT_EQ(numbers.least, 1.0);
  EXPECT_DOUBLE_EQ(numbers.low_quartile, 2.5);
  EXPECT_DOUBLE_EQ(numbers.median, 3.5);
  EXPECT_DOUBLE_EQ(numbers.high_quartile, 5.5);
  EXPECT_EQ(numbers.greatest, 10.0);
}

TEST(FiveNumbers, TakesValuesThemselvesWhereTheyAreQuartiles) {
  const FiveNumbers numbers = five_numbers({5.0, 4.0, 3.0, 2.0, 1.0});
  EXPECT_EQ(numbers.low_quartile, 2.0);
  EXPECT_EQ(numbers.median, 3.0);
  EXPECT_EQ(numbers.high_quartile, 4.0);
}

TEST(FiveNumbers, AreAllTheSameForOneValue) {
  const FiveNumbers numbers = five_numbers({7.0});
  EXPECT_EQ(numbers.least, 7.0);
  EXPECT_EQ(numbers.low_quartile, 7.0);
  EXPECT_EQ(numbers.median, 7.0);
  EXPECT_EQ(numbers.high_quartile, 7.0);
  EXPECT_EQ(numbers.greatest, 7.0);
}

}  // namespace
}  // namespace fatune
