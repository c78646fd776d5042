#include "plot/character_plot.hpp"

#include <algorithm>

#include "core/visible_text.hpp"
#include "plot/character_canvas.hpp"

namespace fatune {
namespace {

struct DrawCharacters {
  std::size_t columns = 0;
  std::string operator()(const XyPlot& plot) const { return character_xy(plot, columns); }
  std::string operator()(const HeatMap& plot) const { return character_heat(plot, columns); }
  std::string operator()(const ParallelPlot&) const {
    return character_lines("parallel axes are drawn in reports only", columns);
  }
};

}  // namespace

std::string character_lines(std::string_view text, std::size_t columns) {
  constexpr std::size_t kMostLines = 10;
  std::string lines;
  for (const std::string& line : wrapped(visible_text(text, columns * kMostLines), columns)) {
    lines += line.empty() ? "" : line + "\n";
  }
  return lines;
}

std::string character_plot(const Plot& plot, std::size_t columns) {
  constexpr std::size_t kUsual = 100;
  constexpr std::size_t kLeast = 40;
  constexpr std::size_t kMost = 500;
  const std::size_t width = columns == 0 ? kUsual : std::clamp(columns, kLeast, kMost);
  const std::string drawing = std::visit(DrawCharacters{width}, plot.drawing);
  return character_lines(plot.title, width) + (drawing.empty() ? "nothing to show\n" : drawing);
}

}  // namespace fatune
