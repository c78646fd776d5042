#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plot/plot.hpp"

namespace fatune {

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
