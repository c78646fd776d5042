#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "plot/plot.hpp"

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
  [[nodiscard]] double category_part() const;
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
[[nodiscard]] bool intervals_along_x(const XyPlot& plot);

}  // namespace fatune
