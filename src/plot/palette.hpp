#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// The colours of plots, after Okabe and Ito's for eight kinds of marks and after cividis for
// scales: those who see no difference of red and green tell them apart too.
namespace fatune {

struct Colour {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;
};

/// "#0072b2"
[[nodiscard]] std::string css_colour(const Colour& colour);

/// Contrast ratio of WCAG 2.2: 1 to 21.
[[nodiscard]] double contrast(const Colour& one, const Colour& other);

inline constexpr std::size_t kSeriesStyles = 8;  ///< then they go round
inline constexpr std::size_t kShades = 16;       ///< colours from good to bad
inline constexpr std::size_t kHeatColours = 17;  ///< odd: a scale with a middle has a colour for it

/// What the colours of a page are made of. Texts have a contrast of 4.5 or more to the ground,
/// marks one of 3 or more.
struct ColourScheme {
  Colour ground;
  Colour text;
  Colour faint_text;
  Colour axis;
  Colour grid;
  std::array<Colour, kSeriesStyles> series;
  std::array<Colour, kShades> shades;  ///< the first, of the best, stands out most
};
[[nodiscard]] const ColourScheme& light_colours();
[[nodiscard]] const ColourScheme& dark_colours();

/// Colours of cells, the same on light and dark pages: from dark blue to yellow.
[[nodiscard]] const std::array<Colour, kHeatColours>& heat_colours();
/// From blue over nearly white to orange.
[[nodiscard]] const std::array<Colour, kHeatColours>& two_sided_colours();
/// Black or white, which has the greater contrast to `ground`: 4.5 or more.
[[nodiscard]] Colour text_colour_on(const Colour& ground);

/// The number of the colour out of `count` for a place from 0 to 1; what is beyond is limited, NaN
/// is the last.
[[nodiscard]] std::size_t colour_number(double part, std::size_t count);

/// The place from 0 to 1 of a cell's value: from the least to the greatest of all, or, with a
/// `middle`, as far to both sides as the value furthest from it. 0.5 where all are equal.
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
