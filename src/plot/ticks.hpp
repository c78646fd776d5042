#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "plot/plot.hpp"

// Round values to read an axis by: pure functions.
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

/// At most about `wishes.most` ticks within `range`, ascending. log2: powers of two, and log10:
/// powers of ten, or linear ones where the range has less than two of them. Not for categories.
[[nodiscard]] std::vector<Tick> ticks_within(const AxisRange& range, AxisScale scale,
                                             const TickWishes& wishes);

}  // namespace fatune
