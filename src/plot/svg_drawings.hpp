#pragma once

#include "plot/svg_frame.hpp"

// One function for each kind of drawing in plot.hpp. Each drawing begins at `top`.
namespace fatune {

[[nodiscard]] SvgDrawing svg_xy(const XyPlot& plot, double top);
[[nodiscard]] SvgDrawing svg_heat(const HeatMap& plot, double top);
[[nodiscard]] SvgDrawing svg_parallel(const ParallelPlot& plot, double top);

}  // namespace fatune
