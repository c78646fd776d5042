#pragma once

#include <array>

#include "print/plot/plot.hpp"

namespace fatune {

// Pure functions that choose round values for the ticks of an axis.

struct Tick {
  double value = 0.0;
  std::string label;
};

/// Ends of an axis; least < greatest, both finite; positive on a log scale.
struct AxisRange {
  double least = 0.0;
  double greatest = 1.0;
};

struct TickWishes {
  std::size_t most = 6;
  bool whole = false;  ///< no ticks between whole numbers
};

/// The least of 1, 2 and 5 times a power of ten that cuts `range` into at most `wishes.most` steps.
[[nodiscard]] double nice_step(const AxisRange& range, const TickWishes& wishes);

/// Returns at most about `wishes.most` ticks within `range`, ascending. They are powers of two for
/// log2, powers of ten for log10, and linear if the range has fewer than two such powers. Not for
/// categories.
[[nodiscard]] std::vector<Tick> ticks_within(const AxisRange& range, AxisScale scale,
                                             const TickWishes& wishes);

struct ScaleWishes {
  bool from_zero = false;      ///< begin a linear axis without a `least` at 0 or below
  std::size_t most_ticks = 6;  ///< ignored for categories, which all have a tick
};

/// Maps values to positions on an axis, as a fraction of its length.
class Scale {
 public:
  /// `values` are drawn on the axis. It has room for them unless it names its ends. Values that
  /// cannot be drawn are ignored.
  Scale(const Axis& axis, const std::vector<double>& values, const ScaleWishes& wishes = {});

  /// Returns 0 at the start of the axis to 1 at its end. Returns nothing for a value beyond the
  /// ends, one that is not finite, and one that is not positive on a log axis. Category i lies in
  /// the middle of the i-th of equal parts.
  [[nodiscard]] std::optional<double> part_of(double value) const;
  /// Moves values beyond the ends to the nearest end. Returns nothing for NaN.
  [[nodiscard]] std::optional<double> nearest_part_of(double value) const;
  /// The fraction that one category takes; 0 on other axes.
  [[nodiscard]] double category_part() const {
    return scale_ == AxisScale::category ? 1.0 / (range_.greatest - range_.least) : 0.0;
  }
  [[nodiscard]] const std::vector<Tick>& ticks() const { return ticks_; }
  [[nodiscard]] const AxisRange& range() const { return range_; }

 private:
  [[nodiscard]] double placed(double value) const;

  AxisScale scale_;
  AxisRange range_;
  std::vector<Tick> ticks_;
};

/// The cells that have a place on the map and a finite value.
[[nodiscard]] std::vector<HeatCell> drawable_cells(const HeatMap& plot);

/// The cell's text. Without one, a sign for its side of the middle, which shows the side without
/// colour.
[[nodiscard]] std::string heat_text(const HeatCell& cell, const std::optional<double>& middle);

/// All values that an XyPlot's axes need room for.
struct XyValues {
  std::vector<double> x;
  std::vector<double> y;
};
[[nodiscard]] XyValues xy_values(const XyPlot& plot);

/// True if intervals lie along x, that is, if y is an axis of categories.
[[nodiscard]] inline bool intervals_along_x(const XyPlot& plot) {
  return plot.y.scale == AxisScale::category;
}

// The colours of plots, after Okabe and Ito's for eight kinds of marks and after cividis for
// scales. Readers who cannot distinguish red and green can tell them apart.

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
  [[nodiscard]] double part_of(double value) const {
    return greatest_ > least_ ? (value - least_) / (greatest_ - least_) : 0.5;
  }
  [[nodiscard]] double least() const { return least_; }
  [[nodiscard]] double greatest() const { return greatest_; }

 private:
  double least_ = 0.0;
  double greatest_ = 0.0;
};

}  // namespace fatune
