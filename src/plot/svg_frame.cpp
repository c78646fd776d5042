#include "plot/svg_frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plot/palette.hpp"
#include "plot/svg_elements.hpp"

namespace fatune {
namespace {

constexpr double kMostOfWidth = 0.45;  // the part of the width that labels on the left may have
constexpr double kSlantedRoom = 150.0;

double widest_label(const std::vector<Tick>& ticks) {
  double widest = 0.0;
  for (const Tick& tick : ticks) {
    widest = std::max(widest, text_width(tick.label, kTickSize));
  }
  return widest;
}

double part_of_tick(const Scale& scale, const Tick& tick) {
  return scale.nearest_part_of(tick.value).value_or(0.0);
}

std::string level_labels(const Area& area, const Scale& scale, double room) {
  std::string elements;
  for (const Tick& tick : scale.ticks()) {
    elements += text_element({.x = x_at(area, part_of_tick(scale, tick)),
                              .y = area.bottom + kLabelGap + kLetterHeight + 1.0,
                              .css_class = "tick",
                              .anchor = TextEnd::middle,
                              .room = room},
                             tick.label);
  }
  return elements;
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

}  // namespace

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
  std::string elements;
  for (const Tick& tick : ticks) {
    elements += text_element({.x = area.left - kLabelGap,
                              .y = y_at(area, part_of_tick(scale, tick), kind) + kHalfLetter,
                              .css_class = "tick",
                              .anchor = TextEnd::end,
                              .room = area.left - kLabelGap},
                             tick.label);
  }
  return elements;
}

std::string labels_above(const Area& area, const std::vector<Tick>& ticks, const Scale& scale) {
  std::string elements;
  for (const Tick& tick : ticks) {
    elements += text_element(
        {.x = 0.0,
         .y = y_at(area, part_of_tick(scale, tick), AxisScale::category) - kLetterHeight,
         .css_class = "tick",
         .room = area.right},
        tick.label);
  }
  return elements;
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
    elements += text_element({.x = x + entry.sample_width + kLabelGap,
                              .y = top + kRow / 2.0 + kHalfLetter,
                              .css_class = "legend",
                              .font_size = kTextSize,
                              .room = room},
                             entry.name);
    x += needed + kBetween;
  }
  top += entries.empty() ? 0.0 : kRow;
  return elements;
}

std::string colour_bar(std::string_view css_class, std::size_t colours, double width) {
  const double each = width / static_cast<double>(colours);
  std::string elements;
  for (std::size_t i = 0; i < colours; ++i) {
    elements +=
        fmt::format("<rect class=\"swatch {}{}\" x=\"{}\" y=\"-6\" width=\"{}\" height=\"12\"/>",
                    css_class, i, svg_number(each * static_cast<double>(i)), svg_number(each));
  }
  return elements;
}

LegendEntry shade_entry() {
  constexpr double kWidth = 80.0;
  return {"better to worse", colour_bar("k", kShades, kWidth), kWidth};
}

}  // namespace fatune
