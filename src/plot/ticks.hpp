#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "plot/plot.hpp"

// Pure functions that choose round values for the ticks of an axis.
namespace fatune {

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

}  // namespace fatune
