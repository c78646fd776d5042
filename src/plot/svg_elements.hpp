#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "plot/plot.hpp"

// Numbers and texts within an SVG: pure functions.
namespace fatune {

inline constexpr std::size_t kMostOfTitle = 400;  ///< longest tooltip, in code points

/// Font sizes in the SVG's units, as plot_style() has them.
inline constexpr double kTitleSize = 15.0;
inline constexpr double kTextSize = 12.0;
inline constexpr double kTickSize = 11.0;

/// Formats with at most one decimal: 12.3, 12, 0. Precondition: `value` is finite.
[[nodiscard]] std::string svg_number(double value);

/// Estimates the width of a text: 0.6 of the font size for a narrow character, all of it for a wide
/// one.
[[nodiscard]] double text_width(std::string_view text, double font_size);

enum class TextEnd { start, middle, end };  ///< the part of the text that is at (x, y)

struct SvgText {
  double x = 0.0;
  double y = 0.0;  ///< baseline
  std::string_view css_class{};
  TextEnd anchor = TextEnd::start;
  double font_size = kTickSize;
  double room = 0.0;        ///< wider text is cut in the middle; its <title> has all of it
  std::string transform{};  ///< attribute; empty: none
};

/// The <text> element; nothing for an empty text.
[[nodiscard]] std::string text_element(const SvgText& place, std::string_view text);

/// The part of the text that text_element() shows.
[[nodiscard]] std::string text_that_fits(std::string_view text, double room, double font_size);

/// The <title> element, which is a tooltip for the element around it. Empty for an empty text. Very
/// long text is cut.
[[nodiscard]] std::string title_element(std::string_view text);

// The SVG elements of series.

/// A place in the SVG's units.
struct SvgPoint {
  double x = 0.0;
  double y = 0.0;
};

[[nodiscard]] bool has_shade(const PlotPoint& point);

/// The class of a shade's colour, to append to other classes: " k3". Empty without a shade.
[[nodiscard]] std::string shade_class(const std::optional<Shade>& shade);

/// For example " data-row="17"". Empty without a row.
[[nodiscard]] std::string row_attribute(const std::optional<std::int64_t>& row);

/// The mark of the series' style, centred at `place`.
[[nodiscard]] std::string mark_element(std::size_t style, const SvgPoint& place,
                                       const PlotPoint& point);

/// The sample of a series for a legend: x from 0 to 24, y centred on 0.
[[nodiscard]] std::string series_sample(const PlotSeries& series);

}  // namespace fatune
