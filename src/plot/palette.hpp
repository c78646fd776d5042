#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// The colours of plots, after Okabe and Ito's for eight kinds of marks and after cividis for
// scales. Readers who cannot distinguish red and green can tell them apart.
namespace fatune {

struct Colour {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;
};

/// For example "#0072b2".
[[nodiscard]] std::string css_colour(const Colour& colour);

/// Contrast ratio of WCAG 2.2: 1 to 21.
[[nodiscard]] double contrast(const Colour& one, const Colour& other);

inline constexpr std::size_t kSeriesStyles = 8;  ///< further series repeat them
inline constexpr std::size_t kShades = 16;       ///< colours from good to bad
inline constexpr std::size_t kHeatColours = 17;  ///< odd: the middle of a scale has a colour

/// The colours of a page. Text has a contrast of at least 4.5 with the ground, marks at least 3.
struct ColourScheme {
  Colour ground;
  Colour text;
  Colour faint_text;
  Colour axis;
  Colour grid;
  std::array<Colour, kSeriesStyles> series;
  std::array<Colour, kShades> shades;  ///< the first is the best and stands out most
};
[[nodiscard]] const ColourScheme& light_colours();
[[nodiscard]] const ColourScheme& dark_colours();

/// Colours of cells, the same on light and dark pages: from dark blue to yellow.
[[nodiscard]] const std::array<Colour, kHeatColours>& heat_colours();
/// Colours from blue through near white to orange.
[[nodiscard]] const std::array<Colour, kHeatColours>& two_sided_colours();
/// Black or white, whichever has the greater contrast with `ground`: at least 4.5.
[[nodiscard]] Colour text_colour_on(const Colour& ground);

/// The index of the colour, out of `count`, for a place from 0 to 1. Places beyond are clamped. NaN
/// gives the last colour.
[[nodiscard]] std::size_t colour_number(double part, std::size_t count);

/// Maps a cell's value to a place from 0 to 1. The scale goes from the least to the greatest value.
/// With a `middle`, it reaches equally far to both sides, up to the value furthest from it. The
/// place is 0.5 if all values are equal.
class HeatScale {
 public:
  HeatScale(const std::vector<double>& values, const std::optional<double>& middle);
  [[nodiscard]] double part_of(double value) const;
  [[nodiscard]] double least() const { return least_; }
  [[nodiscard]] double greatest() const { return greatest_; }

 private:
  double least_ = 0.0;
  double greatest_ = 0.0;
};

}  // namespace fatune
