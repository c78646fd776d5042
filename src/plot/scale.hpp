#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "plot/plot.hpp"
#include "plot/ticks.hpp"

namespace fatune {

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

}  // namespace fatune
