#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// Numbers and texts within an SVG: pure functions.
namespace fatune {

inline constexpr std::size_t kMostOfTitle = 400;  ///< code points of an element that is not shown

/// Font sizes in the SVG's units, as plot_style() has them.
inline constexpr double kTitleSize = 15.0;
inline constexpr double kTextSize = 12.0;
inline constexpr double kTickSize = 11.0;

/// At most one decimal: 12.3, 12, 0. Precondition: finite.
[[nodiscard]] std::string svg_number(double value);

/// About what the text takes: 0.6 of the font's size for a character, and all of it for wide ones.
[[nodiscard]] double text_width(std::string_view text, double font_size);

enum class TextEnd { start, middle, end };  ///< which part of a text is at its place

struct SvgText {
  double x = 0.0;
  double y = 0.0;  ///< of the line that letters stand on
  std::string_view css_class{};
  TextEnd anchor = TextEnd::start;
  double font_size = kTickSize;
  double room = 0.0;        ///< a wider text is cut in the middle, and its <title> has all of it
  std::string transform{};  ///< attribute; empty: none
};

/// The <text> element; nothing for an empty text.
[[nodiscard]] std::string text_element(const SvgText& place, std::string_view text);

/// What text_element() shows of the text.
[[nodiscard]] std::string text_that_fits(std::string_view text, double room, double font_size);

/// <title>: what a reader is told who points at the element that it is in. Nothing for an empty
/// text; one that is very long is cut.
[[nodiscard]] std::string title_element(std::string_view text);

}  // namespace fatune
