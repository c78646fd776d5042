#include "plot/svg_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/markup.hpp"
#include "core/text_fit.hpp"
#include "core/visible_text.hpp"

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

}  // namespace fatune
