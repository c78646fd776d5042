#include "plot/scale.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace fatune {
namespace {

using testing::DoubleNear;
using testing::Optional;

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinite = std::numeric_limits<double>::infinity();

Axis axis_of(AxisScale scale) { return {.title = "", .scale = scale}; }

TEST(Scale, HasRoomForEveryValueAndEndsAtTicks) {
  const Scale scale(axis_of(AxisScale::linear), {12.5, 87.0});
  EXPECT_EQ(scale.range().least, 0.0);
  EXPECT_EQ(scale.range().greatest, 100.0);
  EXPECT_THAT(scale.part_of(25.0), Optional(DoubleNear(0.25, 1e-12)));
}

TEST(Scale, BeginsAtZeroOnlyWhereThatIsWished) {
  const std::vector<double> values{3100.0, 3200.0};
  EXPECT_GT(Scale(axis_of(AxisScale::linear), values).range().least, 3000.0);
  EXPECT_EQ(Scale(axis_of(AxisScale::linear), values, {.from_zero = true}).range().least, 0.0);
  Axis axis = axis_of(AxisScale::linear);
  axis.least = 3000.0;
  EXPECT_EQ(Scale(axis, values, {.from_zero = true}).range().least, 3000.0);
}

TEST(Scale, LeavesOutWhatHasNoPlace) {
  const Scale linear(axis_of(AxisScale::linear), {0.0, kNoNumber, kInfinite, 10.0});
  EXPECT_EQ(linear.range().greatest, 10.0);
  for (const double value : {kNoNumber, kInfinite, -kInfinite, 11.0, -1.0}) {
    EXPECT_FALSE(linear.part_of(value)) << value;
  }
  const Scale log(axis_of(AxisScale::log10), {-5.0, 0.0, 1.0, 100.0});
  EXPECT_FALSE(log.part_of(0.0));
  EXPECT_FALSE(log.part_of(-5.0));
  EXPECT_THAT(log.part_of(10.0), Optional(DoubleNear(0.5, 1e-12)));
  EXPECT_THAT(log.nearest_part_of(-5.0), Optional(0.0));
  EXPECT_FALSE(log.nearest_part_of(kNoNumber));
}

TEST(Scale, HasRoomAroundEqualValues) {
  for (const double value : {0.0, 5.0, -5.0, 1e90, 1e-90, 5e-324}) {
    EXPECT_TRUE(Scale(axis_of(AxisScale::linear), {value, value}).part_of(value)) << value;
  }
  EXPECT_THAT(Scale(axis_of(AxisScale::log2), {512.0}).part_of(512.0),
              Optional(DoubleNear(0.5, 0.01)));
}

TEST(Scale, GivesCategoriesEqualParts) {
  Axis axis = axis_of(AxisScale::category);
  axis.categories = {"a", "b", "c", "d"};
  const Scale scale(axis, {});
  EXPECT_THAT(scale.part_of(0.0), Optional(0.125));
  EXPECT_THAT(scale.part_of(3.0), Optional(0.875));
  EXPECT_FALSE(scale.part_of(4.0));
  EXPECT_EQ(scale.category_part(), 0.25);
  EXPECT_EQ(scale.ticks().size(), 4U);
}

TEST(Scale, TakesNoEndsThatAreNone) {
  Axis axis = axis_of(AxisScale::linear);
  axis.least = 50.0;
  axis.greatest = 10.0;
  const Scale crossed(axis, {1.0, 2.0});
  EXPECT_LT(crossed.range().least, crossed.range().greatest);
  axis.greatest = kNoNumber;
  EXPECT_EQ(Scale(axis, {60.0, 100.0}).range().least, 50.0);
}

}  // namespace
}  // namespace fatune
