#include "base/ranges.hpp"
#include "base/text_parts.hpp"
#include "print/plot/plot.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "base/visible_text.hpp"
#include "print/plot/scale.hpp"
#include "print/plot/svg_frame.hpp"

namespace fatune {
namespace {

std::string_view anchor_attribute(TextEnd anchor) {
  constexpr std::array<std::string_view, 3> kAttributes{"", " text-anchor=\"middle\"",
                                                        " text-anchor=\"end\""};
  return kAttributes.at(static_cast<std::size_t>(anchor));
}

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

constexpr double kMostOfWidth = 0.45;  // the part of the width that labels on the left may have
constexpr double kSlantedRoom = 150.0;

double widest_label(const std::vector<Tick>& ticks) {
  return greatest_of<double>(ticks,
                             [](const Tick& tick) { return text_width(tick.label, kTickSize); });
}

double part_of_tick(const Scale& scale, const Tick& tick) {
  return scale.nearest_part_of(tick.value).value_or(0.0);
}

std::string level_labels(const Area& area, const Scale& scale, double room) {
  return joined(scale.ticks(), "", [&](const Tick& tick) {
    return text_element({.x = x_at(area, part_of_tick(scale, tick)),
                         .y = area.bottom + kLabelGap + kLetterHeight + 1.0,
                         .css_class = "tick",
                         .anchor = TextEnd::middle,
                         .room = room},
                        tick.label);
  });
}

/// Draws every label, or every second, third, ... if categories are narrower than letters.
std::string slanted_labels(const Area& area, const Scale& scale, double each, double& room) {
  constexpr double kSlope = 0.7071;  // 45 degrees
  const auto stride = static_cast<std::size_t>(std::max(1.0, std::ceil(kTickSize / kSlope / each)));
  std::string elements;
  for (std::size_t i = 0; i < scale.ticks().size(); i += stride) {
    const Tick& tick = scale.ticks()[i];
    const double x = x_at(area, part_of_tick(scale, tick)) + kHalfLetter;
    const double y = area.bottom + kLabelGap + kHalfLetter;
    elements += text_element({.x = x,
                              .y = y,
                              .css_class = "tick",
                              .anchor = TextEnd::end,
                              .room = std::min(room, x / kSlope),
                              .transform = fmt::format(" transform=\"rotate(-45 {} {})\"",
                                                       svg_number(x), svg_number(y))},
                             tick.label);
  }
  room = kSlope * (room + kTickSize);
  return elements;
}

constexpr double kTitleLine = 18.0;
constexpr double kBelowTitle = 30.0;
constexpr std::size_t kMostOfSummary = 2000;  // limit in columns of text

struct DrawSvg {
  double width;

  SvgDrawing operator()(const XyPlot& plot) const { return svg_xy(plot, kBelowTitle, width); }
  SvgDrawing operator()(const HeatMap& plot) const { return svg_heat(plot, kBelowTitle, width); }
  SvgDrawing operator()(const ParallelPlot& plot) const { return svg_parallel(plot, kBelowTitle); }
};

constexpr std::array<std::string_view, 3> kDrawingClasses{"xy", "heat", "parallel"};

/// Replaces all but letters and digits with hyphens.
std::string safe_id(std::string_view id) {
  std::string safe(id.substr(0, 100));
  std::ranges::replace_if(
      safe, [](unsigned char c) { return std::isalnum(c) == 0; }, '-');
  return safe;
}

SvgDrawing nothing_to_show(double width) {
  return {width, kBelowTitle + 70.0,
          text_element({.x = width / 2.0,
                        .y = kBelowTitle + 38.0,
                        .css_class = "note",
                        .anchor = TextEnd::middle,
                        .font_size = kTextSize,
                        .room = width},
                       "nothing to show")};
}

SvgDrawing drawing_of(const Plot& plot, double width) {
  SvgDrawing drawing = std::visit(DrawSvg{width}, plot.drawing);
  return drawing.empty ? nothing_to_show(width) : drawing;
}

/// The title and the description, which screen readers speak.
std::string spoken_heading(const Plot& plot, const std::string& id) {
  return fmt::format("<title id=\"{0}-title\">{1}</title>\n<desc id=\"{0}-desc\">{2}</desc>\n", id,
                     markup(visible_text(plot.title, kMostOfSummary)),
                     markup(visible_text(plot.summary, kMostOfSummary)));
}

std::string title_line(const Plot& plot) {
  return text_element(
      {.x = 0.0, .y = kTitleLine, .css_class = "title", .font_size = kTitleSize, .room = kSvgWidth},
      plot.title);
}

/// The part of the text that text_element() shows.
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

}  // namespace

std::string svg_number(double value) {
  const double tenths = std::round(value * 10.0);
  return tenths == 0.0 ? "0" : fmt::format("{:.10g}", tenths / 10.0);
}

double text_width(std::string_view text, double font_size) {
  constexpr double kPart = 0.6;
  return font_size * kPart * static_cast<double>(width_of(text));
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
  const std::string start =
      fmt::format("<{} class=\"mark\"{} {}", name, row_attribute(point.row), shape);
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
  elements += marked ? mark_element(series.style, {kMiddle, 0.0}, {}) : "";
  return fmt::format("<g class=\"s{}\">{}</g>", series.style % kSeriesStyles, elements);
}

double left_labels_width(const std::vector<Tick>& ticks, AxisScale scale, double width) {
  const double widest = widest_label(ticks);
  return scale == AxisScale::category ? std::min(widest, width * kMostOfWidth) : widest;
}

bool cuts_left_labels(const std::vector<Tick>& ticks, double width) {
  return widest_label(ticks) > width * kMostOfWidth;
}

std::string grid(const Area& area, const Scale* x, const Scale* y, AxisScale y_scale) {
  std::string lines;
  if (x != nullptr) {
    for (const Tick& tick : x->ticks()) {
      lines += fmt::format("M{},{}v{}", svg_number(x_at(area, part_of_tick(*x, tick))),
                           svg_number(area.top), svg_number(area.height()));
    }
  }
  if (y != nullptr) {
    for (const Tick& tick : y->ticks()) {
      lines += fmt::format("M{},{}h{}", svg_number(area.left),
                           svg_number(y_at(area, part_of_tick(*y, tick), y_scale)),
                           svg_number(area.width()));
    }
  }
  return lines.empty() ? "" : fmt::format("<path class=\"grid\" d=\"{}\"/>\n", lines);
}

std::string left_labels(const Area& area, const std::vector<Tick>& ticks, const Scale& scale,
                        AxisScale kind) {
  return joined(ticks, "", [&](const Tick& tick) {
    return text_element({.x = area.left - kLabelGap,
                         .y = y_at(area, part_of_tick(scale, tick), kind) + kHalfLetter,
                         .css_class = "tick",
                         .anchor = TextEnd::end,
                         .room = area.left - kLabelGap},
                        tick.label);
  });
}

std::string labels_above(const Area& area, const std::vector<Tick>& ticks, const Scale& scale) {
  return joined(ticks, "", [&](const Tick& tick) {
    return text_element(
        {.x = 0.0,
         .y = y_at(area, part_of_tick(scale, tick), AxisScale::category) - kLetterHeight,
         .css_class = "tick",
         .room = area.right},
        tick.label);
  });
}

std::string bottom_labels(const Area& area, const Scale& scale, AxisScale kind, double& bottom) {
  const double widest = widest_label(scale.ticks());
  const double each = area.width() * scale.category_part();
  if (kind != AxisScale::category || widest + kLabelGap <= each) {
    bottom = area.bottom + kLabelGap + kLetterHeight + kLabelGap;
    return level_labels(area, scale, std::max(widest, 1.0) + 1.0);
  }
  double room = std::min(widest, kSlantedRoom);
  std::string elements = slanted_labels(area, scale, each, room);
  bottom = area.bottom + kLabelGap + room + kLabelGap;
  return elements;
}

std::string axis_title(double x, double y, double room, const std::string& title) {
  return text_element(
      {.x = x, .y = y, .css_class = "axis-title", .font_size = kTextSize, .room = room}, title);
}

std::string legend_text(double x, double y, double room, const std::string& text) {
  return text_element({.x = x, .y = y, .css_class = "legend", .font_size = kTextSize, .room = room},
                      text);
}

std::string title_below(const std::string& title, const Area& area, double y) {
  const bool fits = text_width(title, kTextSize) <= area.width();
  return text_element({.x = fits ? (area.left + area.right) / 2.0 : area.right,
                       .y = y,
                       .css_class = "axis-title",
                       .anchor = fits ? TextEnd::middle : TextEnd::end,
                       .font_size = kTextSize,
                       .room = area.right},
                      title);
}

std::string legend(const std::vector<LegendEntry>& entries, double width, double& top) {
  constexpr double kRow = 20.0;
  constexpr double kBetween = 20.0;
  std::string elements;
  double x = 0.0;
  for (const LegendEntry& entry : entries) {
    const double room = std::min(entry.name_room, width - entry.sample_width - kLabelGap);
    const std::string name = text_that_fits(entry.name, room, kTextSize);
    const double needed = entry.sample_width + kLabelGap + text_width(name, kTextSize);
    if (x > 0.0 && x + needed > width) {
      x = 0.0;
      top += kRow;
    }
    elements += fmt::format("<g transform=\"translate({} {})\">{}</g>\n", svg_number(x),
                            svg_number(top + kRow / 2.0), entry.sample);
    elements += legend_text(x + entry.sample_width + kLabelGap, top + kRow / 2.0 + kHalfLetter,
                            room, entry.name);
    x += needed + kBetween;
  }
  top += entries.empty() ? 0.0 : kRow;
  return elements;
}

std::string colour_bar(std::string_view css_class, std::size_t colours, double width) {
  const double each = width / static_cast<double>(colours);
  return joined(std::views::iota(std::size_t{0}, colours), "", [&](std::size_t i) {
    return fmt::format("<rect class=\"swatch {}{}\" x=\"{}\" y=\"-6\" width=\"{}\" height=\"12\"/>",
                       css_class, i, svg_number(each * static_cast<double>(i)), svg_number(each));
  });
}

LegendEntry shade_entry() {
  constexpr double kWidth = 80.0;
  return {"better to worse", colour_bar("k", kShades, kWidth), kWidth};
}

bool has_narrow_svg(const Plot& plot) {
  return !std::holds_alternative<ParallelPlot>(plot.drawing);
}

std::string svg(const Plot& plot, SvgPlace place) {
  const bool narrow = place == SvgPlace::narrow_page;
  const std::string id = safe_id(plot.id) + (narrow ? "-narrow" : "");
  const SvgDrawing drawing = drawing_of(plot, narrow ? kNarrowSvgWidth : kSvgWidth);
  const bool file = place == SvgPlace::file;
  const double top = file ? 0.0 : kTitleLine;  // a page shows the title itself
  return fmt::format(
      "<svg class=\"plot {}{}\"{}{} role=\"img\" aria-labelledby=\"{}-title {}-desc\" "
      "viewBox=\"0 {} {} {}\">\n"
      "{}{}{}{}</svg>\n",
      kDrawingClasses.at(plot.drawing.index()), narrow ? " narrow" : "",
      file ? " xmlns=\"http://www.w3.org/2000/svg\"" : "",
      // Without a narrow drawing, a page scrolls and does not shrink it.
      file || has_narrow_svg(plot) ? std::string()
                                   : fmt::format(" width=\"{}\"", std::ceil(drawing.width)),
      id, id, top, std::ceil(drawing.width), std::ceil(drawing.bottom) - top,
      file ? fmt::format("<style>\n{}</style>\n", plot_style()) : "", spoken_heading(plot, id),
      file ? title_line(plot) : "", drawing.elements);
}

}  // namespace fatune
