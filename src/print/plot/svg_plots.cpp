#include "print/plot/svg_frame.hpp"

#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "base/ranges.hpp"
#include "base/text_parts.hpp"
#include "base/visible_text.hpp"
#include "print/plot/scale.hpp"

namespace fatune {
namespace {

constexpr double kCellHeight = 22.0;

/// Heat maps treat both axes as axes of categories, whatever their scale.
Scale category_scale(Axis axis) {
  axis.scale = AxisScale::category;
  return Scale(axis, {});
}

double widest_text(const std::vector<HeatCell>& cells, const std::optional<double>& middle) {
  return greatest_of<double>(cells, [&](const HeatCell& cell) {
    return text_width(visible_text(heat_text(cell, middle)), kTickSize);
  });
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
      "{}<g transform=\"translate({} 0)\">{}</g>{}", legend_text(0.0, 4.0, begin, least),
      svg_number(begin), colour_bar(plot.middle ? "d" : "h", kHeatColours, bar_width),
      legend_text(begin + bar_width + kLabelGap, 4.0, width, end(scale.greatest())));
  const double sample =
      begin + bar_width + kLabelGap + text_width(end(scale.greatest()), kTextSize);
  std::string elements = legend(
      {{plot.value_title, bar, sample + kLabelGap, width - sample - 2.0 * kLabelGap}}, width, top);
  top += kLabelGap;
  return elements;
}

std::string x_title(const Axis& x, const Area& area, double& bottom) {
  bottom += x.title.empty() ? 0.0 : kTitleRow;
  return title_below(x.title, area, bottom - kLabelGap);
}

constexpr double kAxisHeight = 300.0;
constexpr double kBelow = 18.0;  // the distance from an axis's end to the place of missing values
constexpr double kLeftMargin = 24.0;
constexpr double kLastLabels = 64.0;    // room beside the last axis
constexpr double kLeastBetween = 56.0;  // least distance between axes
constexpr double kMostBetween = 90.0;   // limit for long names

using Line = ParallelPlot::Line;

struct ParallelAxis {
  double x = 0.0;
  Scale scale;
  AxisScale kind;
};

struct ParallelFrame {
  std::vector<ParallelAxis> axes;
  double between = 0.0;  ///< distance between axes
  double top = 0.0;
  double bottom = 0.0;
};

std::optional<double> value_at(const Line& line, std::size_t axis) {
  return axis < line.values.size() ? line.values[axis] : std::nullopt;
}

std::vector<double> values_of(const ParallelPlot& plot, std::size_t axis) {
  std::vector<double> values;
  for (const Line& line : plot.lines) {
    if (const std::optional<double> value = value_at(line, axis)) {
      values.push_back(*value);
    }
  }
  return values;
}

/// The least distance between axes that leaves room for the names of categories, up to a limit.
double least_between(const ParallelPlot& plot) {
  double widest = kLeastBetween;
  for (const Axis& axis : plot.axes) {
    for (const std::string& name : axis.categories) {
      widest = std::max(widest, text_width(name, kTickSize) + 2.0 * kLabelGap);
    }
  }
  return std::min(widest, kMostBetween);
}

ParallelFrame frame_of(const ParallelPlot& plot, double top) {
  constexpr std::size_t kTicks = 6;
  const auto gaps = static_cast<double>(std::max<std::size_t>(plot.axes.size(), 2) - 1);
  ParallelFrame frame{{}, (kSvgWidth - kLeftMargin - kLastLabels) / gaps, top, top + kAxisHeight};
  frame.between = std::max(frame.between, least_between(plot));
  for (std::size_t i = 0; i < plot.axes.size(); ++i) {
    // Whole units keep paths short and let scripts find the axes' positions in them.
    const double x = std::round(kLeftMargin + frame.between * static_cast<double>(i));
    frame.axes.push_back(
        {x, Scale(plot.axes[i], values_of(plot, i), {.from_zero = false, .most_ticks = kTicks}),
         plot.axes[i].scale});
  }
  return frame;
}

/// The width of the plot, with room for the labels beside the last axis.
double width_of_parallel(const ParallelFrame& frame) {
  const double last = frame.axes.empty() ? 0.0 : frame.axes.back().x;
  return std::max(kSvgWidth, last + std::clamp(frame.between, kLastLabels, kMostBetween));
}

std::optional<double> part_at(const ParallelFrame& frame, const Line& line, std::size_t axis) {
  const std::optional<double> value = value_at(line, axis);
  return value ? frame.axes[axis].scale.part_of(*value) : std::nullopt;
}

std::string line_element(const Line& line, const ParallelFrame& frame) {
  const Area area{0.0, frame.top, 0.0, frame.bottom};
  std::string path;
  for (std::size_t i = 0; i < frame.axes.size(); ++i) {
    const std::optional<double> part = part_at(frame, line, i);
    const double y = part ? y_at(area, *part, frame.axes[i].kind) : frame.bottom + kBelow;
    path += fmt::format("{}{},{}", path.empty() ? 'M' : 'L', svg_number(frame.axes[i].x),
                        svg_number(y));
  }
  return fmt::format("<path class=\"line k{}\"{} d=\"{}\"", colour_number(line.shade, kShades),
                     row_attribute(line.row), path) +
         (line.label.empty() ? "/>\n" : fmt::format(">{}</path>\n", title_element(line.label)));
}

/// Draws the best lines last, on top of the others.
std::string lines_of(const ParallelPlot& plot, const ParallelFrame& frame) {
  std::vector<std::size_t> order(plot.lines.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>{}, [&](std::size_t i) {
    return colour_number(plot.lines[i].shade, kShades);
  });
  return joined(order, "", [&](const std::size_t i) { return line_element(plot.lines[i], frame); });
}

bool has_missing(const ParallelPlot& plot, const ParallelFrame& frame) {
  return std::ranges::any_of(plot.lines, [&](const Line& line) {
    return std::ranges::any_of(indices_of(frame.axes),
                               [&](std::size_t axis) { return !part_at(frame, line, axis); });
  });
}

/// Labels beside the axis, on top of the lines.
std::string tick_labels(const ParallelAxis& axis, const ParallelFrame& frame, bool missing) {
  const Area area{0.0, frame.top, 0.0, frame.bottom};
  const auto label = [&](double y, const std::string& text) {
    return text_element(
        {.x = axis.x + kLabelGap,
         .y = y + kHalfLetter,
         .css_class = "tick halo",
         .room = std::min(frame.between, width_of_parallel(frame) - axis.x) - kLabelGap},
        text);
  };
  std::string elements;
  for (const Tick& tick : axis.scale.ticks()) {
    elements += label(y_at(area, axis.scale.nearest_part_of(tick.value).value_or(0.0), axis.kind),
                      tick.label);
  }
  return elements + (missing ? label(frame.bottom + kBelow, "none") : "");
}

std::string tick_lines(const ParallelAxis& axis, const ParallelFrame& frame) {
  const Area area{0.0, frame.top, 0.0, frame.bottom};
  std::string path =
      fmt::format("M{},{}V{}", svg_number(axis.x), svg_number(frame.top), svg_number(frame.bottom));
  for (const Tick& tick : axis.scale.ticks()) {
    path += fmt::format(
        "M{},{}h6", svg_number(axis.x - 3.0),
        svg_number(y_at(area, axis.scale.nearest_part_of(tick.value).value_or(0.0), axis.kind)));
  }
  return fmt::format("<path class=\"axis-line\" d=\"{}\"/>\n", path);
}

/// Titles that do not fit side by side alternate between two heights.
std::string axis_element(const ParallelPlot& plot, const ParallelFrame& frame, std::size_t i,
                         bool two_heights, bool missing) {
  const ParallelAxis& axis = frame.axes[i];
  const bool raised = two_heights && i % 2 == 1;
  const double room = std::min(frame.between * (two_heights ? 2.0 : 1.0) - kLabelGap,
                               width_of_parallel(frame) - axis.x + kLabelGap);
  return fmt::format(
             "<g class=\"axis\" data-name=\"{}\" data-x=\"{}\" data-top=\"{}\" "
             "data-bottom=\"{}\">\n",
             markup(visible_text(plot.axes[i].title, kMostOfTitle)), svg_number(axis.x),
             svg_number(frame.top), svg_number(frame.bottom)) +
         tick_lines(axis, frame) + tick_labels(axis, frame, missing) +
         axis_title(axis.x - kLabelGap, frame.top - 12.0 - (raised ? kTitleRow : 0.0), room,
                    plot.axes[i].title) +
         "</g>\n";
}

bool titles_need_two_heights(const ParallelPlot& plot, double between) {
  return std::ranges::any_of(plot.axes, [&](const Axis& axis) {
    return text_width(axis.title, kTextSize) > between - kLabelGap;
  });
}

constexpr double kCategoryRow = 22.0;
constexpr double kRowBelowLabel = 34.0;
constexpr double kPlotHeight = 260.0;
constexpr double kSideMargin = 20.0;  // room for half of a tick's label

/// True if there are many points. They are drawn translucent, which shows how many overlap.
bool is_dense(const PlotSeries& series) {
  constexpr std::size_t kMany = 150;
  return series.points.size() > kMany;
}

struct Frame {
  Area area;
  Scale x;
  Scale y;
  AxisScale y_kind;
  bool labels_above = false;  ///< the labels of categories are too long for the left side

  [[nodiscard]] std::optional<SvgPoint> place(double at_x, double at_y) const {
    const std::optional<double> x_part = x.part_of(at_x);
    const std::optional<double> y_part = y.part_of(at_y);
    return x_part && y_part
               ? std::optional(SvgPoint{x_at(area, *x_part), y_at(area, *y_part, y_kind)})
               : std::nullopt;
  }
};

std::string legend_of(const XyPlot& plot, double width, double& top) {
  std::vector<LegendEntry> entries;
  for (const PlotSeries& series : plot.series) {
    if (!series.name.empty()) {
      entries.push_back({series.name, series_sample(series)});
    }
  }
  std::string elements = legend(entries, width, top);
  top += entries.empty() ? 0.0 : kLabelGap;
  return elements;
}

Frame frame_of(const XyPlot& plot, double top, double width) {
  const std::size_t ticks_across = width < kSvgWidth ? 4 : 8;
  constexpr std::size_t kTicksUp = 6;
  const XyValues values = xy_values(plot);
  Scale x(plot.x, values.x, {.from_zero = false, .most_ticks = ticks_across});
  Scale y(plot.y, values.y, {.from_zero = true, .most_ticks = kTicksUp});
  const bool rows = intervals_along_x(plot);
  const bool above = rows && width < kSvgWidth && cuts_left_labels(y.ticks(), width);
  const double row = above ? kRowBelowLabel : kCategoryRow;
  const double height = rows ? row * static_cast<double>(plot.y.categories.size()) : kPlotHeight;
  const double left =
      above ? 0.0 : left_labels_width(y.ticks(), plot.y.scale, width) + 2.0 * kLabelGap;
  const Area area{std::max(left, kSideMargin), top, width - kSideMargin,
                  top + std::max(height, row)};
  return {area, std::move(x), std::move(y), plot.y.scale, above};
}

/// The ends of a point's interval, limited to the axes.
std::optional<std::pair<SvgPoint, SvgPoint>> interval_of(const PlotPoint& point,
                                                         const SvgPoint& middle,
                                                         const Frame& frame) {
  if (!point.low || !point.high) {
    return std::nullopt;
  }
  const bool along_x = frame.y_kind == AxisScale::category;
  const Scale& scale = along_x ? frame.x : frame.y;
  const std::optional<double> low = scale.nearest_part_of(*point.low);
  const std::optional<double> high = scale.nearest_part_of(*point.high);
  if (!low || !high) {
    return std::nullopt;
  }
  const Area& area = frame.area;
  return along_x ? std::pair{SvgPoint{x_at(area, *low), middle.y},
                             SvgPoint{x_at(area, *high), middle.y}}
                 : std::pair{SvgPoint{middle.x, y_at(area, *low, frame.y_kind)},
                             SvgPoint{middle.x, y_at(area, *high, frame.y_kind)}};
}

std::string path_element(std::string_view css_class, const std::string& path) {
  return path.empty() ? "" : fmt::format("<path class=\"{}\" d=\"{}\"/>\n", css_class, path);
}

/// Intervals have caps at their ends, unless the series is dense.
std::string interval_path(const SvgPoint& low, const SvgPoint& high, bool along_x, bool dense) {
  const std::string from = fmt::format("M{},{}", svg_number(low.x), svg_number(low.y));
  const std::string to = along_x ? "H" + svg_number(high.x) : "V" + svg_number(high.y);
  const std::string cap = along_x ? "m0,-3v6" : "m-3,0h6";
  const std::string back = along_x ? "m0,-3" : "m-3,0";  // from the end of a cap to its middle
  return dense ? from + to : from + cap + back + to + cap;
}

/// Draws all intervals as one path, which keeps the SVG short.
std::string intervals_of(const PlotSeries& series, const Frame& frame) {
  std::string path;
  for (const PlotPoint& point : series.points) {
    const std::optional<SvgPoint> place = frame.place(point.x, point.y);
    const auto interval = place ? interval_of(point, *place, frame) : std::nullopt;
    if (interval) {
      path += interval_path(interval->first, interval->second, frame.y_kind == AxisScale::category,
                            is_dense(series));
    }
  }
  return path_element("range", path);
}

/// Joins the points. The path is broken at a point that cannot be drawn.
std::string joined_points(const PlotSeries& series, const Frame& frame) {
  std::string path;
  bool begins = true;
  for (const PlotPoint& point : series.points) {
    const std::optional<SvgPoint> place = frame.place(point.x, point.y);
    if (place && series.shape == SeriesShape::steps && !begins) {
      path += fmt::format("H{}V{}", svg_number(place->x), svg_number(place->y));
    } else if (place) {
      path +=
          fmt::format("{}{},{}", begins ? 'M' : 'L', svg_number(place->x), svg_number(place->y));
    }
    begins = !place;
  }
  return path;
}

/// A rule with one point crosses the whole plot: at its x if y is an axis of categories, else at
/// its y.
std::string rule_path(const PlotSeries& series, const Frame& frame) {
  if (series.points.size() != 1) {
    return joined_points(series, frame);
  }
  const PlotPoint& point = series.points.front();
  const bool upright = frame.y_kind == AxisScale::category;
  const std::optional<double> part = upright ? frame.x.part_of(point.x) : frame.y.part_of(point.y);
  if (!part) {
    return "";
  }
  const Area& area = frame.area;
  return upright ? fmt::format("M{},{}V{}", svg_number(x_at(area, *part)), svg_number(area.top),
                               svg_number(area.bottom))
                 : fmt::format("M{},{}H{}", svg_number(area.left),
                               svg_number(y_at(area, *part, frame.y_kind)), svg_number(area.right));
}

std::string marks_of(const PlotSeries& series, const Frame& frame) {
  return joined(series.points, "", [&](const PlotPoint& point) {
    const std::optional<SvgPoint> place = frame.place(point.x, point.y);
    return place ? mark_element(series.style, *place, point) : "";
  });
}

std::string series_content(const PlotSeries& series, const Frame& frame) {
  switch (series.shape) {
    case SeriesShape::rule:
      return path_element("rule", rule_path(series, frame));
    case SeriesShape::steps:
      return path_element("join", joined_points(series, frame));
    case SeriesShape::line:
      return path_element("join", joined_points(series, frame)) + intervals_of(series, frame) +
             marks_of(series, frame);
    case SeriesShape::points:
      break;
  }
  return intervals_of(series, frame) + marks_of(series, frame);
}

std::string series_element(const PlotSeries& series, const Frame& frame) {
  const std::string content = series_content(series, frame);
  return content.empty()
             ? ""
             : fmt::format("<g class=\"series s{}{}\">\n{}</g>\n", series.style % kSeriesStyles,
                           is_dense(series) ? " dense" : "", content);
}

std::string box_element(const PlotBox& box, const Frame& frame) {
  constexpr double kHalf = 6.0;
  const std::optional<double> y_part = frame.y.part_of(box.position);
  const auto ends =
      mapped(std::array{box.least, box.low_quartile, box.median, box.high_quartile, box.greatest},
             [&](double value) { return frame.x.nearest_part_of(value); });
  if (!y_part || std::ranges::any_of(ends, [](const auto& end) { return !end; })) {
    return "";
  }
  const auto x = mapped(ends, [&](const auto& end) { return x_at(frame.area, *end); });
  const double y = y_at(frame.area, *y_part, frame.y_kind);
  return fmt::format(
      "<g class=\"box\">{title}<path class=\"range\" "
      "d=\"M{least},{y}H{low}M{high},{y}H{greatest}\"/>"
      "<rect x=\"{low}\" y=\"{top}\" width=\"{width}\" height=\"12\"/>"
      "<path class=\"median\" d=\"M{median},{top}v12\"/></g>\n",
      fmt::arg("title", title_element(box.label)), fmt::arg("y", svg_number(y)),
      fmt::arg("top", svg_number(y - kHalf)), fmt::arg("least", svg_number(x[0])),
      fmt::arg("low", svg_number(x[1])), fmt::arg("width", svg_number(x[3] - x[1])),
      fmt::arg("median", svg_number(x[2])), fmt::arg("high", svg_number(x[3])),
      fmt::arg("greatest", svg_number(x[4])));
}

std::string marks_of_all(const XyPlot& plot, const Frame& frame) {
  return joined(plot.boxes, "", [&](const PlotBox& box) { return box_element(box, frame); }) +
         joined(plot.series, "",
                [&](const PlotSeries& series) { return series_element(series, frame); });
}

std::string y_title(const XyPlot& plot, double width, double& top) {
  top += plot.y.title.empty() ? 0.0 : kTitleRow;
  return axis_title(0.0, top - kLabelGap, width, plot.y.title);
}

std::string axis_lines(const Frame& frame) {
  const Area& area = frame.area;
  return fmt::format("<path class=\"axis-line\" d=\"M{},{}V{}H{}\"/>\n", svg_number(area.left),
                     svg_number(area.top), svg_number(area.bottom), svg_number(area.right));
}

}  // namespace

SvgDrawing svg_xy(const XyPlot& plot, double top, double width) {
  SvgDrawing drawing;
  drawing.width = width;
  drawing.elements = legend_of(plot, width, top);
  drawing.elements += y_title(plot, width, top);
  const Frame frame = frame_of(plot, top + kLabelGap, width);
  const Area& area = frame.area;
  const std::string marks = marks_of_all(plot, frame);
  drawing.empty = marks.empty();
  drawing.elements +=
      grid(area, plot.x.scale == AxisScale::category ? nullptr : &frame.x, &frame.y, plot.y.scale) +
      axis_lines(frame) +
      (frame.labels_above ? labels_above(area, frame.y.ticks(), frame.y)
                          : left_labels(area, frame.y.ticks(), frame.y, plot.y.scale)) +
      bottom_labels(area, frame.x, plot.x.scale, drawing.bottom) + marks;
  drawing.elements += x_title(plot.x, area, drawing.bottom);
  return drawing;
}

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
  drawing.elements += axis_title(0.0, top - 2.0 * kLabelGap, width, plot.y.title) +
                      x_title(plot.x, frame.area, drawing.bottom);
  drawing.width = std::max(width, frame.area.right + kLabelGap);
  return drawing;
}

SvgDrawing svg_parallel(const ParallelPlot& plot, double top) {
  SvgDrawing drawing;
  drawing.empty = plot.axes.empty() || plot.lines.empty();
  drawing.elements = legend({shade_entry()}, kSvgWidth, top);
  const double between = frame_of(plot, top).between;
  const bool two_heights = titles_need_two_heights(plot, between);
  const ParallelFrame frame =
      frame_of(plot, top + kTitleRow + 14.0 + (two_heights ? kTitleRow : 0.0));
  const bool missing = has_missing(plot, frame);
  drawing.elements += lines_of(plot, frame);
  for (std::size_t i = 0; i < frame.axes.size(); ++i) {
    drawing.elements += axis_element(plot, frame, i, two_heights, missing);
  }
  drawing.width = width_of_parallel(frame);
  drawing.bottom = frame.bottom + (missing ? kBelow : 0.0) + 10.0;
  return drawing;
}

}  // namespace fatune
