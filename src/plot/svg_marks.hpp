#pragma once

#include <cstddef>
#include <string>

#include "plot/plot.hpp"

// The SVG elements of series.
namespace fatune {

/// A place in the SVG's units.
struct SvgPoint {
  double x = 0.0;
  double y = 0.0;
};

[[nodiscard]] bool has_shade(const PlotPoint& point);

/// The class of a shade's colour, to append to other classes: " k3". Empty without a shade.
[[nodiscard]] std::string shade_class(const std::optional<Shade>& shade);

/// For example " data-row="17"". Empty without a row.
[[nodiscard]] std::string row_attribute(const std::optional<std::int64_t>& row);

/// The mark of the series' style, centred at `place`.
[[nodiscard]] std::string mark_element(std::size_t style, const SvgPoint& place,
                                       const PlotPoint& point);

/// The sample of a series for a legend: x from 0 to 24, y centred on 0.
[[nodiscard]] std::string series_sample(const PlotSeries& series);

}  // namespace fatune
