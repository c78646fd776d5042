#include "print/plot/scale.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace fatune {
namespace {

constexpr double kOfText = 4.5;   // WCAG 2.2, 1.4.3
constexpr double kOfMarks = 3.0;  // 1.4.11

class Schemes : public testing::TestWithParam<const ColourScheme*> {};

TEST_P(Schemes, TextsCanBeRead) {
  const ColourScheme& colours = *GetParam();
  EXPECT_GE(contrast(colours.text, colours.ground), kOfText);
  EXPECT_GE(contrast(colours.faint_text, colours.ground), kOfText);
}

TEST_P(Schemes, MarksStandOut) {
  const ColourScheme& colours = *GetParam();
  EXPECT_GE(contrast(colours.axis, colours.ground), kOfMarks);
  for (const Colour& colour : colours.series) {
    EXPECT_GE(contrast(colour, colours.ground), kOfMarks) << css_colour(colour);
  }
  for (const Colour& colour : colours.shades) {
    EXPECT_GE(contrast(colour, colours.ground), kOfMarks) << css_colour(colour);
  }
}

TEST_P(Schemes, BetterShadesStandOutMore) {
  const ColourScheme& colours = *GetParam();
  for (std::size_t i = 1; i < kShades; ++i) {
    EXPECT_GT(contrast(colours.shades.at(i - 1), colours.ground),
              contrast(colours.shades.at(i), colours.ground))
        << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Schemes, testing::Values(&light_colours(), &dark_colours()));

TEST(Palette, ContrastIsThatOfWcag) {
  EXPECT_NEAR(contrast({0, 0, 0}, {255, 255, 255}), 21.0, 1e-9);
  EXPECT_NEAR(contrast({119, 119, 119}, {255, 255, 255}), 4.48, 0.01);
}

TEST(Palette, TextsOnCellsCanBeRead) {
  for (const auto& colours : {heat_colours(), two_sided_colours()}) {
    for (const Colour& colour : colours) {
      EXPECT_GE(contrast(text_colour_on(colour), colour), kOfText) << css_colour(colour);
    }
  }
}

TEST(Palette, HeatGetsLighterFromStepToStep) {
  for (std::size_t i = 1; i < kHeatColours; ++i) {
    EXPECT_GT(contrast(heat_colours().at(i), {}), contrast(heat_colours().at(i - 1), {})) << i;
  }
}

TEST(Palette, ColourNumbersAreWithinTheColours) {
  EXPECT_EQ(colour_number(0.0, 16), 0U);
  EXPECT_EQ(colour_number(0.99, 16), 15U);
  EXPECT_EQ(colour_number(1.0, 16), 15U);
  EXPECT_EQ(colour_number(-3.0, 16), 0U);
  EXPECT_EQ(colour_number(std::numeric_limits<double>::infinity(), 16), 15U);
  EXPECT_EQ(colour_number(std::numeric_limits<double>::quiet_NaN(), 16), 15U);
}

TEST(HeatScale, GoesAsFarToBothSidesOfTheMiddle) {
  const HeatScale scale({-1.0, 4.0}, 0.0);
  EXPECT_EQ(scale.part_of(0.0), 0.5);
  EXPECT_EQ(scale.part_of(4.0), 1.0);
  EXPECT_EQ(scale.part_of(-1.0), 0.375);
  EXPECT_EQ(HeatScale({3.0, 3.0}, {}).part_of(3.0), 0.5);
}

}  // namespace
}  // namespace fatune
