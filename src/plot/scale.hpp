#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "plot/plot.hpp"
#include "plot/ticks.hpp"

namespace fatune {

struct ScaleWishes {
  bool from_zero = false;      ///< a linear axis that says no `least` begins at 0, or below
  std::size_t most_ticks = 6;  ///< not of categories, which all have one
};

/// Where values stand on an axis, as a part of its length.
class Scale {
 public:
  /// `values` are those that are drawn: the axis has room for them unless it names its ends. Those
  /// that cannot be drawn are passed over.
  Scale(const Axis& axis, const std::vector<double>& values, const ScaleWishes& wishes = {});

  /// 0 at the axis' begin to 1 at its end; nothing for a value beyond the ends, one that is not
  /// finite, and one that is not positive on a log axis. Category i has the middle of the i-th of
  /// equal parts.
  [[nodiscard]] std::optional<double> part_of(double value) const;
  /// The part of the nearest value that is within the ends; nothing for NaN.
  [[nodiscard]] std::optional<double> nearest_part_of(double value) const;
  /// What one category takes; 0 on other axes.
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
