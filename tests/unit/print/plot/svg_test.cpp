#include "print/plot/plot.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <regex>

#include "golden_file.hpp"
#include "sample_plots.hpp"

namespace fatune {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

std::string on_page(const Plot& plot) { return svg(plot, SvgPlace::page); }

class GoldenSvg : public testing::TestWithParam<Plot> {};

TEST_P(GoldenSvg, IsAsBefore) {
  testing_golden::expect_golden(on_page(GetParam()), "plot_" + GetParam().id + ".svg");
}

INSTANTIATE_TEST_SUITE_P(All, GoldenSvg, testing::ValuesIn(testing_plots::all_drawings()),
                         [](const auto& plot) {
                           return std::regex_replace(plot.param.id, std::regex("-"), "_");
                         });

TEST_P(GoldenSvg, OfNarrowPagesIsAsBefore) {
  if (has_narrow_svg(GetParam())) {
    testing_golden::expect_golden(svg(GetParam(), SvgPlace::narrow_page),
                                  "plot_narrow_" + GetParam().id + ".svg");
  }
}

TEST(Svg, OnANarrowPageLongLabelsAreAboveTheirRowsAndWhole) {
  Plot plot = testing_plots::interval_plot();
  auto& drawing = std::get<XyPlot>(plot.drawing);
  const std::string label = "(ws_pp, FP16, 128, 192, 80, 3, 12, 3): overlap";
  drawing.y.categories.front() = label;
  const std::string text = svg(plot, SvgPlace::narrow_page);
  EXPECT_THAT(text, HasSubstr("viewBox=\"0 18 344 "));
  EXPECT_THAT(text, HasSubstr("<svg class=\"plot xy narrow\""));
  EXPECT_THAT(text, HasSubstr(">" + label + "</text>"));
  EXPECT_THAT(text, HasSubstr("id=\"" + plot.id + "-narrow-title\"")) << "ids are of one element";
  EXPECT_FALSE(has_narrow_svg(testing_plots::parallel_plot()));
}

TEST(Svg, OfAPageHasNoStyleOfItsOwn) {
  for (const Plot& plot : testing_plots::all_drawings()) {
    EXPECT_THAT(on_page(plot), Not(HasSubstr("style")));
    EXPECT_THAT(on_page(plot), Not(HasSubstr("xmlns")));
    EXPECT_THAT(svg(plot, SvgPlace::file), HasSubstr("<style>\n" + plot_style() + "</style>"));
    EXPECT_THAT(svg(plot, SvgPlace::file), HasSubstr("xmlns=\"http://www.w3.org/2000/svg\""));
  }
}

TEST(Svg, SaysWhatItShows) {
  const std::string text = on_page(testing_plots::heat_plot());
  EXPECT_THAT(
      text,
      HasSubstr("<svg class=\"plot heat\" role=\"img\" aria-labelledby=\"heat-title heat-desc\""));
  EXPECT_THAT(text, HasSubstr("<title id=\"heat-title\">How much slower</title>"));
  EXPECT_THAT(text, HasSubstr("<desc id=\"heat-desc\">a is faster.</desc>"));
}

TEST(Svg, MarksNameTheirRows) {
  const std::string text = on_page(testing_plots::interval_plot());
  EXPECT_THAT(text, HasSubstr("<g class=\"series s1\">"));
  EXPECT_THAT(text, HasSubstr("<circle class=\"mark\" data-row=\"1\""));
  EXPECT_THAT(text, HasSubstr("<path class=\"mark\" data-row=\"4\""));
  EXPECT_THAT(text, HasSubstr("<title>100 us</title></circle>"));
  EXPECT_EQ(count_of(text, "data-row"), 6U);
}

/// The scripts of pages rely on this.
TEST(Svg, LinesOfAParallelPlotHaveAVertexOnEachAxis) {
  const std::string text = on_page(testing_plots::parallel_plot());
  const std::regex axis(
      "<g class=\"axis\" data-name=\"([^\"]*)\" data-x=\"(\\d+)\" data-top=\"([\\d.]+)\" "
      "data-bottom=\"([\\d.]+)\">");
  std::vector<std::string> x;
  double bottom = 0.0;
  for (auto found = std::sregex_iterator(text.begin(), text.end(), axis);
       found != std::sregex_iterator(); ++found) {
    x.push_back(found->str(2));
    bottom = std::stod(found->str(4));
  }
  ASSERT_EQ(x.size(), 3U);
  const std::regex line(
      "<path class=\"line k(\\d+)\" data-row=\"(\\d)\" "
      "d=\"M(\\d+),([\\d.]+)L(\\d+),([\\d.]+)L(\\d+),([\\d.]+)\"");
  std::vector<std::string> rows;
  for (auto found = std::sregex_iterator(text.begin(), text.end(), line);
       found != std::sregex_iterator(); ++found) {
    rows.push_back(found->str(2));
    EXPECT_EQ((std::vector{found->str(3), found->str(5), found->str(7)}), x);
    if (found->str(2) == "8") {
      EXPECT_NEAR(std::stod(found->str(6)), bottom + 18.0, 0.1) << "not known: below the axis";
    }
  }
  EXPECT_EQ(rows, (std::vector<std::string>{"8", "9", "7"})) << "the best on top";
  EXPECT_THAT(text, HasSubstr(">none</text>"));
}

TEST(Svg, ParallelPlotWithoutMissingValuesHasNoPlaceForThem) {
  EXPECT_THAT(on_page(testing_plots::many_lines(3, 3)), Not(HasSubstr(">none</text>")));
}

TEST(Svg, ASideOfTheMiddleIsToldWithoutColour) {
  EXPECT_THAT(on_page(testing_plots::two_sided_plot()), HasSubstr(">−</text>"));
}

TEST(Svg, StaysSmall) {
  EXPECT_LT(on_page(testing_plots::many_points(480)).size(), 60U * 1024U);
  EXPECT_LT(on_page(testing_plots::many_points(2000)).size(), 300U * 1024U);
  EXPECT_LT(on_page(testing_plots::many_lines(480, 12)).size(), 90U * 1024U);
}

TEST(Svg, SaysThatThereIsNothing) {
  constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
  Plot no_place = testing_plots::line_plot();
  for (PlotSeries& series : std::get<XyPlot>(no_place.drawing).series) {
    for (PlotPoint& point : series.points) {
      point.y = kNotANumber;
    }
  }
  HeatMap no_cells = std::get<HeatMap>(testing_plots::heat_plot().drawing);
  no_cells.cells.resize(1);
  no_cells.cells[0].value = kNotANumber;
  for (const auto& drawing :
       {Plot{"", "", "", XyPlot{}}, Plot{"", "", "", HeatMap{}}, Plot{"", "", "", no_cells},
        Plot{"", "", "", ParallelPlot{}}, no_place}) {
    EXPECT_THAT(on_page(drawing), HasSubstr(">nothing to show</text>"));
  }
}

TEST(Svg, LeavesOutWhatHasNoPlaceOnALogAxis) {
  Plot plot = testing_plots::line_plot();
  std::get<XyPlot>(plot.drawing).series[0].points[2].x = -1.0;
  EXPECT_EQ(count_of(on_page(plot), "<circle class=\"mark\" data-row"), 5U);
}

TEST(Svg, TakesHostileTextInEveryPlace) {
  const std::string hostile =
      std::string("</svg><script>\"'&\0\xE2\x80\xAE\xFF", 22) + std::string(100000, 'x') + "<b";
  for (const Plot& plot : testing_plots::all_drawings()) {
    const std::string text = on_page(testing_plots::with_text_everywhere(plot, hostile));
    EXPECT_THAT(text, Not(HasSubstr("<script")));
    EXPECT_THAT(text, Not(HasSubstr("<b")));
    EXPECT_THAT(text, Not(HasSubstr("\xE2\x80\xAE")));
    EXPECT_EQ(text.find('\0'), std::string::npos);
    EXPECT_EQ(count_of(text, "</svg>"), 1U);
    EXPECT_LT(text.size(), 60U * 1024U);
  }
}

}  // namespace
}  // namespace fatune
