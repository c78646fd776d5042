#pragma once

#include <cstddef>
#include <string>

#include "plot/plot.hpp"

// The elements that series consist of.
namespace fatune {

/// A place in the SVG's units.
struct SvgPoint {
  double x = 0.0;
  double y = 0.0;
};

[[nodiscard]] bool has_shade(const PlotPoint& point);

/// " k3": the class of a shade's colour after other classes; empty without a shade.
[[nodiscard]] std::string shade_class(const std::optional<Shade>& shade);

/// " data-row="17"", or nothing.
[[nodiscard]] std::string row_attribute(const std::optional<std::int64_t>& row);

/// The mark of the series' style with its middle at `place`.
[[nodiscard]] std::string mark_element(std::size_t style, const SvgPoint& place,
                                       const PlotPoint& point);

/// The sample of a series for a legend, around (0, 0) from x 0 to 24.
[[nodiscard]] std::string series_sample(const PlotSeries& series);

}  // namespace fatune
