#pragma once

#include "plot/svg_frame.hpp"

// One function for each kind of drawing in plot.hpp. Each drawing begins at `top`, and is `width`
// wide unless it needs more.
namespace fatune {

[[nodiscard]] SvgDrawing svg_xy(const XyPlot& plot, double top, double width);
[[nodiscard]] SvgDrawing svg_heat(const HeatMap& plot, double top, double width);
[[nodiscard]] SvgDrawing svg_parallel(const ParallelPlot& plot, double top);

}  // namespace fatune
