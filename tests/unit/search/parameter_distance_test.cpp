#include "search/parameter_distance.hpp"

#include <cstddef>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace fatune {
namespace {

SearchPoint point(const char* family, std::vector<ParamValue> values) {
  return {{family, std::move(values)}, {}, false, 1.0};
}

class ParameterDistances : public testing::Test {
 protected:
  const std::vector<SearchPoint> points_{point("a", {64, 0, 3}), point("a", {128, 1, 3}),
                                         point("a", {192, 1, 3}), point("b", {7})};
  const ParameterDistance distance_{points_};

  [[nodiscard]] double between(std::size_t a, std::size_t b) const {
    return distance_(points_[a].config, points_[b].config);
  }
};

TEST_F(ParameterDistances, AddUpPartsOfEachRange) {
  EXPECT_DOUBLE_EQ(between(0, 1), 0.5 + 1.0);
  EXPECT_DOUBLE_EQ(between(0, 2), 1.0 + 1.0);
  EXPECT_DOUBLE_EQ(between(2, 1), 0.5);
  EXPECT_DOUBLE_EQ(between(1, 1), 0.0);
}

TEST_F(ParameterDistances, AreGreatestBetweenFamilies) {
  EXPECT_GT(between(0, 3), between(0, 2));
  EXPECT_DOUBLE_EQ(between(0, 3), between(3, 0));
}

}  // namespace
}  // namespace fatune
