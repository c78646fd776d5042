#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>

#include "base/ranges.hpp"
#include "print/plot/scale.hpp"
#include "print/plot/svg_frame.hpp"

namespace fatune {
namespace {

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

bool has_shades(const XyPlot& plot) {
  return std::ranges::any_of(plot.series, [](const PlotSeries& series) {
    return std::ranges::any_of(series.points, &has_shade);
  });
}

std::string legend_of(const XyPlot& plot, double width, double& top) {
  std::vector<LegendEntry> entries;
  for (const PlotSeries& series : plot.series) {
    if (!series.name.empty()) {
      entries.push_back({series.name, series_sample(series)});
    }
  }
  if (has_shades(plot)) {
    entries.push_back(shade_entry());
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

/// Intervals have caps at their ends, unless the series is dense.
std::string interval_path(const SvgPoint& low, const SvgPoint& high, bool along_x, bool dense) {
  constexpr std::string_view kCap = "m0,-3v6";
  constexpr std::string_view kFlatCap = "m-3,0h6";
  const std::string line = fmt::format("M{},{}", svg_number(low.x), svg_number(low.y));
  if (dense) {
    return along_x ? fmt::format("{}H{}", line, svg_number(high.x))
                   : fmt::format("{}V{}", line, svg_number(high.y));
  }
  return along_x ? fmt::format("{}{}m0,-3H{}{}", line, kCap, svg_number(high.x), kCap)
                 : fmt::format("{}{}m-3,0V{}{}", line, kFlatCap, svg_number(high.y), kFlatCap);
}

/// Draws all intervals of a colour as one path, which keeps the SVG short.
std::string intervals_of(const PlotSeries& series, const Frame& frame) {
  std::map<std::string, std::string> paths;  // keyed by class of the shade
  for (const PlotPoint& point : series.points) {
    const std::optional<SvgPoint> place = frame.place(point.x, point.y);
    const auto interval = place ? interval_of(point, *place, frame) : std::nullopt;
    if (interval) {
      paths[shade_class(point.shade)] += interval_path(
          interval->first, interval->second, frame.y_kind == AxisScale::category, is_dense(series));
    }
  }
  std::string elements;
  for (const auto& [shade, path] : paths) {
    elements += fmt::format("<path class=\"range{}\" d=\"{}\"/>\n", shade, path);
  }
  return elements;
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

std::string path_element(std::string_view css_class, const std::string& path) {
  return path.empty() ? "" : fmt::format("<path class=\"{}\" d=\"{}\"/>\n", css_class, path);
}

/// Draws the best marks last, on top of the others.
std::string marks_of(const PlotSeries& series, const Frame& frame) {
  std::vector<const PlotPoint*> points =
      mapped(series.points, [](const PlotPoint& point) { return &point; });
  std::ranges::stable_sort(points, std::greater<>{}, [](const PlotPoint* point) {
    return point->shade ? colour_number(*point->shade, kShades) : 0;
  });
  std::string elements;
  for (const PlotPoint* point : points) {
    const std::optional<SvgPoint> place = frame.place(point->x, point->y);
    elements += place ? mark_element(series.style, *place, *point) : "";
  }
  return elements;
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
  std::string elements;
  for (const PlotBox& box : plot.boxes) {
    elements += box_element(box, frame);
  }
  for (const PlotSeries& series : plot.series) {
    elements += series_element(series, frame);
  }
  return elements;
}

std::string y_title(const XyPlot& plot, double width, double& top) {
  if (plot.y.title.empty()) {
    return "";
  }
  top += kTitleRow;
  return text_element({.x = 0.0,
                       .y = top - kLabelGap,
                       .css_class = "axis-title",
                       .font_size = kTextSize,
                       .room = width},
                      plot.y.title);
}

std::string x_title(const XyPlot& plot, const Area& area, double& bottom) {
  if (plot.x.title.empty()) {
    return "";
  }
  bottom += kTitleRow;
  return title_below(plot.x.title, area, bottom - kLabelGap);
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
  drawing.elements += x_title(plot, area, drawing.bottom);
  return drawing;
}

}  // namespace fatune
