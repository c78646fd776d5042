#pragma once

#include <vector>

#include "plot/plot.hpp"

namespace fatune {

/// All values that an XyPlot's axes need room for.
struct XyValues {
  std::vector<double> x;
  std::vector<double> y;
};
[[nodiscard]] XyValues xy_values(const XyPlot& plot);

/// True if intervals lie along x, that is, if y is an axis of categories.
[[nodiscard]] bool intervals_along_x(const XyPlot& plot);

}  // namespace fatune
