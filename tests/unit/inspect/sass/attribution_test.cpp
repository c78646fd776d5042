#include "inspect/sass/attribution.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/inspect/sass/listings.hpp"

namespace fatune {
namespace {

WorkSample sample(ParamValue a, ParamValue b, double mufu) {
  WorkSample made{{"f", {a, b}}, {{"a", std::to_string(a)}, {"b", std::to_string(b)}}, {}};
  made.counts.classes.at(static_cast<std::size_t>(OpcodeClass::mufu)) = mufu;
  made.counts.all = mufu;
  return made;
}

TEST(WorkCounts, AreForAMillionFlop) {
  const Listing listing = recorded_listing("flash.sm_80.txt");
  const auto counts = work_counts(profile_function(listing, listing.functions.at(0)));
  ASSERT_TRUE(counts);
  EXPECT_DOUBLE_EQ(counts->classes.at(static_cast<std::size_t>(OpcodeClass::tensor)), 1e6 / 4096);
  EXPECT_DOUBLE_EQ(counts->all, 503 / 0.524288);
}

TEST(WorkCounts, WithoutTensorWorkThereAreNone) {
  const Listing listing = recorded_listing("small.sm_80.txt");
  EXPECT_FALSE(work_counts(profile_function(listing, function_named(listing, "saxpy"))));
  EXPECT_FALSE(work_counts(profile_function(listing, function_named(listing, "chosen"))));
}

TEST(ParameterEffects, OnlyPairsThatDifferInOneParameterCount) {
  const auto effects =
      parameter_effects({sample(1, 1, 10), sample(2, 1, 14), sample(1, 2, 20), sample(2, 2, 30)});
  ASSERT_EQ(effects.size(), 2U);
  EXPECT_EQ(effects[0].parameter, "b");
  EXPECT_EQ(effects[0].from, "1");
  EXPECT_EQ(effects[0].to, "2");
  EXPECT_EQ(effects[0].which, OpcodeClass::mufu);
  EXPECT_EQ(effects[0].pairs, 2);
  EXPECT_DOUBLE_EQ(effects[0].mean_before, 12);
  EXPECT_DOUBLE_EQ(effects[0].mean_difference, 13);
  EXPECT_EQ(effects[1].parameter, "a");
  EXPECT_DOUBLE_EQ(effects[1].mean_difference, 7);
}

TEST(ParameterEffects, FamiliesAreComparedEachWithItsOwn) {
  WorkSample other = sample(2, 1, 99);
  other.config = {"g", {2}};
  WorkSample twin = sample(1, 1, 90);
  twin.config = {"g", {1}};
  const auto effects = parameter_effects({sample(1, 1, 10), other, sample(2, 1, 14), twin});
  ASSERT_EQ(effects.size(), 2U);
  EXPECT_EQ(effects[0].family, "g");
  EXPECT_DOUBLE_EQ(effects[0].mean_difference, 9);
  EXPECT_EQ(effects[1].family, "f");
  EXPECT_DOUBLE_EQ(effects[1].mean_difference, 4);
}

TEST(ParameterEffects, WhatNeverChangesIsLeftOut) {
  EXPECT_THAT(parameter_effects({sample(1, 1, 5), sample(2, 1, 5)}), testing::IsEmpty());
  EXPECT_THAT(parameter_effects({}), testing::IsEmpty());
}

TEST(TimeCorrelations, TheStrongestComesFirstAndConstantsAreLeftOut) {
  std::vector<WorkCounts> counts;
  const std::vector<double> mufu{1, 2, 3, 4, 5, 6};
  const std::vector<double> all{2, 1, 4, 3, 6, 5};
  for (std::size_t i = 0; i < mufu.size(); ++i) {
    WorkCounts one;
    one.classes.at(static_cast<std::size_t>(OpcodeClass::mufu)) = mufu[i];
    one.all = all[i];
    counts.push_back(one);
  }
  const auto correlations = time_correlations(counts, {60, 50, 40, 30, 20, 10}, 0.95);
  ASSERT_EQ(correlations.size(), 2U);
  EXPECT_EQ(correlations[0].what, "mufu");
  EXPECT_DOUBLE_EQ(correlations[0].correlation.spearman, -1.0);
  EXPECT_EQ(correlations[0].configs, 6);
  EXPECT_EQ(correlations[1].what, "all");
}

using Values = std::vector<double>;

TEST(RankCorrelation, OnlyTheOrderCounts) {
  const auto rising =
      rank_correlation(Values{1, 2, 3, 4, 5, 6}, Values{1, 10, 11, 90, 91, 1e9}, 0.95);
  ASSERT_TRUE(rising);
  EXPECT_DOUBLE_EQ(rising->spearman, 1.0);
  const auto falling = rank_correlation(Values{1, 2, 3, 4, 5, 6}, Values{6, 5, 4, 3, 2, 1}, 0.95);
  EXPECT_DOUBLE_EQ(falling->spearman, -1.0);
}

// The squared differences of the ranks add up to 8, so the result is 1 - 6 * 8 / (10 * 99).
TEST(RankCorrelation, AsComputedByHand) {
  const Values x{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const Values y{2, 1, 4, 3, 6, 5, 8, 7, 9, 10};
  const auto correlation = rank_correlation(x, y, 0.95);
  ASSERT_TRUE(correlation);
  EXPECT_NEAR(correlation->spearman, 1.0 - 6.0 * 8.0 / (10.0 * 99.0), 1e-12);
  // atanh(0.951515) = 1.84762; half-width 1.959964 * sqrt((1 + 0.452691) / 7) = 0.892855
  EXPECT_NEAR(correlation->low, 0.7422, 5e-4);
  EXPECT_NEAR(correlation->high, 0.9917, 5e-4);
  EXPECT_NEAR(correlation->share_percent(), 90.538, 1e-2);
}

TEST(RankCorrelation, EqualValuesShareTheirRank) {
  const auto correlation =
      rank_correlation(Values{1, 1, 2, 2, 3, 3}, Values{1, 1, 2, 2, 3, 3}, 0.95);
  ASSERT_TRUE(correlation);
  EXPECT_DOUBLE_EQ(correlation->spearman, 1.0);
  const auto none = rank_correlation(Values{1, 1, 2, 2, 1, 2}, Values{1, 2, 1, 2, 3, 3}, 0.95);
  ASSERT_TRUE(none);
  EXPECT_DOUBLE_EQ(none->spearman, 0.0);
}

TEST(RankCorrelation, TooFewPointsOrAConstantSayNothing) {
  EXPECT_FALSE(rank_correlation(Values{1, 2, 3, 4}, Values{1, 2, 3, 4}, 0.95));
  EXPECT_FALSE(rank_correlation(Values{}, Values{}, 0.95));
  EXPECT_FALSE(rank_correlation(Values{2, 2, 2, 2, 2}, Values{1, 2, 3, 4, 5}, 0.95));
}

TEST(RankCorrelation, MoreConfidenceIsAWiderInterval) {
  const Values x{1, 2, 3, 4, 5, 6};
  const Values y{2, 1, 4, 3, 6, 5};
  EXPECT_GT(rank_correlation(x, y, 0.99)->high, rank_correlation(x, y, 0.9)->high);
  EXPECT_LT(rank_correlation(x, y, 0.99)->low, rank_correlation(x, y, 0.9)->low);
}

}  // namespace
}  // namespace fatune
