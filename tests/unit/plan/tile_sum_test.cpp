#include "runtime/expression_math.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace fatune {
namespace {

using fatune_attention::math::tile_sum;

TEST(TileSum, CountsTheTilesThatEachBlockReaches) {
  EXPECT_EQ(tile_sum(0, 64, 64, 32, 100), 0);
  EXPECT_EQ(tile_sum(1, 64, 64, 32, 100), 2);
  EXPECT_EQ(tile_sum(4, 64, 64, 32, 100), 2 + 4 + 6 + 8);
  EXPECT_EQ(tile_sum(4, 65, 64, 128, 100), 1 + 2 + 2 + 3);
}

TEST(TileSum, TermsStayBetweenNoneAndMost) {
  EXPECT_EQ(tile_sum(4, -100, 64, 32, 2), 0 + 0 + 1 + 2);
  EXPECT_EQ(tile_sum(3, 1000, 64, 32, 0), 0);
}

TEST(TileSum, IsNoNumberOfWhatIsNoCount) {
  EXPECT_TRUE(std::isnan(tile_sum(-1, 0, 1, 1, 1)));
  EXPECT_TRUE(std::isnan(tile_sum(1, 0, 1, 0, 1)));
  EXPECT_TRUE(std::isnan(tile_sum(16777217, 0, 1, 1, 1)));
  EXPECT_TRUE(std::isnan(tile_sum(1, HUGE_VAL, 1, 1, 1)));
  EXPECT_TRUE(std::isnan(tile_sum(1, 0, std::nan(""), 1, 1)));
}

}  // namespace
}  // namespace fatune
