#include "core/five_numbers.hpp"

#include <gtest/gtest.h>

namespace fatune {
namespace {

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
