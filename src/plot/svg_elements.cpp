#include "plot/svg_elements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "core/visible_text.hpp"
#include "plot/palette.hpp"

namespace fatune {
namespace {

std::string_view anchor_attribute(TextEnd anchor) {
  switch (anchor) {
    case TextEnd::middle:
      return " text-anchor=\"middle\"";
    case TextEnd::end:
      return " text-anchor=\"end\"";
    case TextEnd::start:
      break;
  }
  return "";
}

}  // namespace

std::string svg_number(double value) {
  const double tenths = std::round(value * 10.0);
  return tenths == 0.0 ? "0" : fmt::format("{:.10g}", tenths / 10.0);
}

double text_width(std::string_view text, double font_size) {
  constexpr double kPart = 0.6;
  return font_size * kPart * static_cast<double>(width_of(text));
}

std::string text_that_fits(std::string_view text, double room, double font_size) {
  std::string shown = visible_text(text);
  while (text_width(shown, font_size) > room && !shown.empty()) {
    const double too_much = text_width(shown, font_size) - room;
    const auto characters = static_cast<std::size_t>(std::ceil(too_much / font_size));
    const std::size_t width = width_of(shown);
    shown = shortened(shown, width - std::min(width, std::max<std::size_t>(characters, 1)));
  }
  return shown;
}

std::string title_element(std::string_view text) {
  return text.empty() ? ""
                      : fmt::format("<title>{}</title>", markup(visible_text(text, kMostOfTitle)));
}

std::string text_element(const SvgText& place, std::string_view text) {
  const std::string shown = text_that_fits(text, place.room, place.font_size);
  if (shown.empty()) {
    return "";
  }
  const bool cut = shown != visible_text(text);
  return fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\"{}{}>{}{}</text>\n", place.css_class,
                     svg_number(place.x), svg_number(place.y), anchor_attribute(place.anchor),
                     place.transform, cut ? title_element(text) : "", markup(shown));
}

namespace {

/// An outline that begins at (x + dx, y + dy).
struct MarkOutline {
  double dx = 0.0;
  double dy = 0.0;
  std::string_view rest;
};

// The outlines have about the same area. The first stands for a circle, which has its own element.
constexpr std::array<MarkOutline, kSeriesStyles> kOutlines{
    MarkOutline{},
    MarkOutline{-3.0, -3.0, "h6v6h-6z"},
    MarkOutline{0.0, -4.2, "l4.2,7h-8.4z"},
    MarkOutline{0.0, -4.6, "l4.6,4.6-4.6,4.6-4.6-4.6z"},
    MarkOutline{0.0, 4.2, "l4.2-7h-8.4z"},
    MarkOutline{-4.5, -1.3, "h3.2v-3.2h2.6v3.2h3.2v2.6h-3.2v3.2h-2.6v-3.2h-3.2z"},
    MarkOutline{0.0, -1.9,
                "l2.3-2.3 1.9,1.9-2.3,2.3 2.3,2.3-1.9,1.9-2.3-2.3-2.3,2.3-1.9-1.9 2.3-2.3-2.3-2.3 "
                "1.9-1.9z"},
    MarkOutline{-4.0, -2.0, "h8v4h-8z"},
};

/// The point of a legend's sample. It has the middle shade if all marks of the series have shades.
PlotPoint sample_point(const PlotSeries& series) {
  PlotPoint point;
  if (std::ranges::all_of(series.points, &has_shade)) {
    point.shade = 0.5;
  }
  return point;
}

}  // namespace

bool has_shade(const PlotPoint& point) { return point.shade.has_value(); }

std::string shade_class(const std::optional<Shade>& shade) {
  return shade ? fmt::format(" k{}", colour_number(*shade, kShades)) : "";
}

std::string row_attribute(const std::optional<std::int64_t>& row) {
  return row ? fmt::format(" data-row=\"{}\"", *row) : "";
}

std::string mark_element(std::size_t style, const SvgPoint& place, const PlotPoint& point) {
  const std::size_t number = style % kSeriesStyles;
  const MarkOutline& outline = kOutlines.at(number);
  const std::string shape =
      number == 0
          ? fmt::format("cx=\"{}\" cy=\"{}\" r=\"3.4\"", svg_number(place.x), svg_number(place.y))
          : fmt::format("d=\"M{},{}{}\"", svg_number(place.x + outline.dx),
                        svg_number(place.y + outline.dy), outline.rest);
  const std::string_view name = number == 0 ? "circle" : "path";
  const std::string start = fmt::format("<{} class=\"mark{}\"{} {}", name, shade_class(point.shade),
                                        row_attribute(point.row), shape);
  return point.label.empty() ? start + "/>\n"
                             : fmt::format("{}>{}</{}>\n", start, title_element(point.label), name);
}

std::string series_sample(const PlotSeries& series) {
  constexpr double kMiddle = 12.0;
  const bool marked = series.shape == SeriesShape::points || series.shape == SeriesShape::line;
  std::string elements;
  if (series.shape != SeriesShape::points) {
    elements += fmt::format("<path class=\"{}\" d=\"M0,0h24\"/>",
                            series.shape == SeriesShape::rule ? "rule" : "join");
  }
  elements += marked ? mark_element(series.style, {kMiddle, 0.0}, sample_point(series)) : "";
  return fmt::format("<g class=\"s{}\">{}</g>", series.style % kSeriesStyles, elements);
}

}  // namespace fatune
