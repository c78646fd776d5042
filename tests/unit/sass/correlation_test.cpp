#include "sass/correlation.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace fatune {
namespace {

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
