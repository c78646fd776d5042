#include "print/plot/scale.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "base/ranges.hpp"

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

using testing::ElementsAre;

std::vector<std::string> labels(const AxisRange& range, AxisScale scale,
                                const TickWishes& wishes = {}) {
  return mapped(ticks_within(range, scale, wishes), &Tick::label);
}

TEST(Ticks, AreRoundOnALinearScale) {
  EXPECT_THAT(labels({0, 10}, AxisScale::linear), ElementsAre("0", "2", "4", "6", "8", "10"));
  EXPECT_THAT(labels({0.1, 0.52}, AxisScale::linear),
              ElementsAre("0.1", "0.2", "0.3", "0.4", "0.5"));
  EXPECT_THAT(labels({-3, 3}, AxisScale::linear),
              ElementsAre("-3", "-2", "-1", "0", "1", "2", "3"));
  EXPECT_THAT(labels({0, 4e6}, AxisScale::linear), ElementsAre("0", "1M", "2M", "3M", "4M"));
}

TEST(Ticks, AreWholeNumbersWhereThatIsWished) {
  EXPECT_THAT(labels({2, 3}, AxisScale::linear, {.most = 6, .whole = true}), ElementsAre("2", "3"));
  EXPECT_EQ(nice_step({2, 3}, {.most = 5}), 0.2);
}

TEST(Ticks, ArePowersOnALogScale) {
  EXPECT_THAT(labels({500, 17000}, AxisScale::log2),
              ElementsAre("512", "1024", "2048", "4096", "8192", "16384"));
  EXPECT_THAT(labels({0.2, 5}, AxisScale::log2), ElementsAre("1/4", "1/2", "1", "2", "4"));
  EXPECT_THAT(labels({1, 1e6}, AxisScale::log10, {.most = 4}),
              ElementsAre("1", "100", "10000", "1000000"));
  EXPECT_THAT(labels({1e-9, 1e9}, AxisScale::log10, {.most = 3}),
              ElementsAre("10^-9", "1/100", "100000"));
}

TEST(Ticks, AreLinearWhereALogScaleHasNoTwoPowers) {
  EXPECT_THAT(labels({600, 1000}, AxisScale::log2),
              ElementsAre("600", "700", "800", "900", "1000"));
}

TEST(Ticks, AreFewWhateverTheRange) {
  for (const AxisRange& range : {AxisRange{0, 1e-90}, AxisRange{-1e100, 1e100},
                                 AxisRange{1e15, 1e15 + 4}, AxisRange{1e-100, 1e100}}) {
    for (const AxisScale scale : {AxisScale::linear, AxisScale::log2, AxisScale::log10}) {
      if (range.least > 0.0 || scale == AxisScale::linear) {
        EXPECT_LE(ticks_within(range, scale, {}).size(), 7U)
            << range.least << " " << range.greatest;
        EXPECT_GE(ticks_within(range, scale, {}).size(), 1U)
            << range.least << " " << range.greatest;
      }
    }
  }
}

}  // namespace
}  // namespace fatune
