#include "plot/ticks.hpp"

#include <gmock/gmock.h>

#include "core/mapped.hpp"

namespace fatune {
namespace {

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
