#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/ranges.hpp"
#include "core/visible_text.hpp"
#include "plot/palette.hpp"
#include "plot/scale.hpp"
#include "plot/svg_frame.hpp"

namespace fatune {
namespace {

constexpr double kCellHeight = 22.0;

/// Heat maps treat both axes as axes of categories, whatever their scale.
Scale category_scale(Axis axis) {
  axis.scale = AxisScale::category;
  return Scale(axis, {});
}

double widest_text(const std::vector<HeatCell>& cells, const std::optional<double>& middle) {
  double widest = 0.0;
  for (const HeatCell& cell : cells) {
    widest = std::max(widest, text_width(visible_text(heat_text(cell, middle)), kTickSize));
  }
  return widest;
}

/// The width of a column of a plot that is `width` wide and has `room` for its columns. A column
/// has room for the texts, unless they would make the plot more than twice as wide (on a narrow
/// page more than a fifth wider), and takes more if there is room.
double column_width(double room, double width, std::size_t columns, double widest) {
  constexpr double kMost = 96.0;
  constexpr double kLeast = 10.0;
  const auto count = static_cast<double>(std::max<std::size_t>(columns, 1));
  const double needed = widest + 2.0 * kLabelGap;
  const double fitting = std::clamp(room / count, kLeast, kMost);
  const double more = width < kSvgWidth ? width / 5.0 : width;
  return needed * count <= room + more ? std::max(fitting, needed) : fitting;
}

std::string cell_element(const HeatCell& cell, const Area& area, std::string_view colour,
                         const std::string& text) {
  return fmt::format(
             "<rect class=\"cell {}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\">{}</rect>",
             colour, svg_number(area.left), svg_number(area.top), svg_number(area.width()),
             svg_number(area.height()), title_element(cell.label)) +
         (text_width(text, kTickSize) <= area.width()
              ? text_element({.x = (area.left + area.right) / 2.0,
                              .y = area.bottom - 7.0,
                              .css_class = "value",
                              .anchor = TextEnd::middle,
                              .room = area.width()},
                             text)
              : "") +
         "\n";
}

struct HeatFrame {
  Area area;
  double column = 0.0;

  [[nodiscard]] Area cell(const HeatCell& cell) const {
    const double left = area.left + column * static_cast<double>(cell.column);
    const double top = area.top + kCellHeight * static_cast<double>(cell.row);
    return {left, top, left + column, top + kCellHeight};
  }
};

HeatFrame frame_of(const HeatMap& plot, const std::vector<HeatCell>& cells, double top,
                   double width) {
  const Scale y = category_scale(plot.y);
  const double left = left_labels_width(y.ticks(), AxisScale::category, width) + 2.0 * kLabelGap;
  const double column = column_width(width - left - kLabelGap, width, plot.x.categories.size(),
                                     widest_text(cells, plot.middle));
  return {{left, top, left + column * static_cast<double>(plot.x.categories.size()),
           top + kCellHeight * static_cast<double>(plot.y.categories.size())},
          column};
}

std::string heat_legend(const HeatMap& plot, const HeatScale& scale, double width, double& top) {
  const double bar_width = width < kSvgWidth ? 80.0 : 170.0;
  const auto end = [](double value) { return fmt::format("{:.3g}", value); };
  const std::string least = end(scale.least());
  const double begin = text_width(least, kTextSize) + kLabelGap;
  const std::string bar = fmt::format(
      "{}<g transform=\"translate({} 0)\">{}</g>{}",
      text_element(
          {.x = 0.0, .y = 4.0, .css_class = "legend", .font_size = kTextSize, .room = begin},
          least),
      svg_number(begin), colour_bar(plot.middle ? "d" : "h", kHeatColours, bar_width),
      text_element({.x = begin + bar_width + kLabelGap,
                    .y = 4.0,
                    .css_class = "legend",
                    .font_size = kTextSize,
                    .room = width},
                   end(scale.greatest())));
  const double sample =
      begin + bar_width + kLabelGap + text_width(end(scale.greatest()), kTextSize);
  std::string elements = legend(
      {{plot.value_title, bar, sample + kLabelGap, width - sample - 2.0 * kLabelGap}}, width, top);
  top += kLabelGap;
  return elements;
}

std::string axis_titles(const HeatMap& plot, const Area& area, double top, double width,
                        double& bottom) {
  std::string elements = text_element({.x = 0.0,
                                       .y = top - kLabelGap,
                                       .css_class = "axis-title",
                                       .font_size = kTextSize,
                                       .room = width},
                                      plot.y.title);
  bottom += plot.x.title.empty() ? 0.0 : kTitleRow;
  return elements + title_below(plot.x.title, area, bottom - kLabelGap);
}

}  // namespace

SvgDrawing svg_heat(const HeatMap& plot, double top, double width) {
  const std::vector<HeatCell> cells = drawable_cells(plot);
  SvgDrawing drawing;
  drawing.empty = cells.empty();
  const HeatScale scale(mapped(cells, &HeatCell::value), plot.middle);
  drawing.elements = heat_legend(plot, scale, width, top);
  top += plot.y.title.empty() ? kLabelGap : kTitleRow + kLabelGap;
  const HeatFrame frame = frame_of(plot, cells, top, width);
  const Scale x = category_scale(plot.x);
  const Scale y = category_scale(plot.y);
  drawing.elements += left_labels(frame.area, y.ticks(), y, AxisScale::category) +
                      bottom_labels(frame.area, x, AxisScale::category, drawing.bottom);
  for (const HeatCell& cell : cells) {
    const std::size_t number = colour_number(scale.part_of(cell.value), kHeatColours);
    drawing.elements +=
        cell_element(cell, frame.cell(cell), fmt::format("{}{}", plot.middle ? 'd' : 'h', number),
                     heat_text(cell, plot.middle));
  }
  drawing.elements += axis_titles(plot, frame.area, top - kLabelGap, width, drawing.bottom);
  drawing.width = std::max(width, frame.area.right + kLabelGap);
  return drawing;
}

}  // namespace fatune
