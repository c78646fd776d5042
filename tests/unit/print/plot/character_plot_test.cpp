#include "print/plot/plot.hpp"

#include <gmock/gmock.h>

#include "base/visible_text.hpp"
#include "golden_file.hpp"
#include "sample_plots.hpp"

namespace fatune {
namespace {

using testing::HasSubstr;

/// The lines of a text, which has to end with a line break.
std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end == std::string::npos ? text.size() : end + 1;
  }
  return lines;
}

void expect_harmless_lines(const std::string& text, std::size_t columns, const std::string& which) {
  EXPECT_EQ(text.back(), '\n') << which;
  for (const std::string& line : lines_in(text)) {
    EXPECT_LE(width_of(line), columns) << which << ": " << line;
    EXPECT_EQ(visible_text(line), line) << which;
  }
}

/// A text whose characters take two columns each, but for the first.
std::string wide_text() {
  std::string text = "x";
  for (int i = 0; i < 1000; ++i) {
    text += "注";
  }
  return text;
}

TEST(CharacterPlot, IsAsBefore) {
  std::string text;
  for (const Plot& plot : testing_plots::all_drawings()) {
    text += character_plot(plot, 60) + "\n";
  }
  testing_golden::expect_golden(text, "plots.txt");
}

TEST(CharacterPlot, HasLinesOfAtMostItsColumns) {
  for (const std::size_t columns : {40U, 60U, 80U, 120U, 500U}) {
    for (std::uint32_t seed = 0; seed < 300; ++seed) {
      expect_harmless_lines(character_plot(testing_plots::random_plot(seed), columns), columns,
                            fmt::format("seed {}", seed));
    }
    for (const Plot& plot : testing_plots::all_drawings()) {
      for (const std::string& text : {std::string(100000, 'x') + "\x1B[2J", wide_text()}) {
        const Plot long_texts = testing_plots::with_text_everywhere(plot, text);
        expect_harmless_lines(character_plot(long_texts, columns), columns, plot.title);
      }
    }
  }
}

TEST(CharacterPlot, LimitsItsColumns) {
  const Plot plot = testing_plots::interval_plot();
  EXPECT_EQ(character_plot(plot, 0), character_plot(plot, 100));
  EXPECT_EQ(character_plot(plot, 1), character_plot(plot, 40));
  EXPECT_EQ(character_plot(plot, 1000000), character_plot(plot, 500));
}

TEST(CharacterPlot, TellsSeriesApartByLetters) {
  const std::string text = character_plot(testing_plots::line_plot(), 80);
  EXPECT_THAT(text, HasSubstr("a first   b second   c best so far   - - limit"));
}

TEST(CharacterPlot, SaysWhatItCannotShow) {
  EXPECT_EQ(character_plot({"", "Title", "", XyPlot{}}, 80), "Title\nnothing to show\n");
  EXPECT_EQ(character_plot(testing_plots::parallel_plot(), 80),
            "Parameters\nparallel axes are drawn in reports only\n");
  EXPECT_THAT(character_plot(testing_plots::box_plot(), 80),
              HasSubstr("\nboxes are drawn in reports only\n"));
}

TEST(CharacterPlot, MarksWhereSeveralSeriesMeet) {
  XyPlot plot;
  plot.series = {{"one"}, {"two"}};
  plot.series[0].points = {{1.0, 1.0}, {2.0, 5.0}};
  plot.series[1].points = {{1.0, 1.0}, {2.0, 9.0}};
  EXPECT_THAT(character_plot({"", "", "", plot}, 40), HasSubstr("a one   b two   * several"));
}

TEST(CharacterPlot, ShowsPartsOfAMapThatIsTooWideBelowEachOther) {
  HeatMap map{{"x", AxisScale::category}, {"y", AxisScale::category, {"first", "second"}}, "value"};
  for (std::size_t i = 0; i < 20; ++i) {
    map.x.categories.push_back(fmt::format("column{}", i));
    map.cells.push_back({i, i / 10, static_cast<double>(i), fmt::format("{}", i), ""});
  }
  const std::string text = character_plot({"", "", "", map}, 60);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_THAT(text, HasSubstr(fmt::format("column{}", i)));
  }
}

}  // namespace
}  // namespace fatune
