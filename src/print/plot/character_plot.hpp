#pragma once

#include <cstddef>
#include <string>

#include "print/plot/plot.hpp"

namespace fatune {

/// Draws the plot with braille and box characters (UTF-8), at most `columns` wide, with axes, ticks
/// and legend. It is readable without colour. Lines end with a line break. Bytes that a terminal
/// would interpret as controls are shown as U+FFFD. Boxes, steps, parallel axes and intervals along
/// y are in SVG only; boxes and parallel axes are drawn as a note that says so. `columns`: 0 means
/// 100; values below 40 mean 40.
[[nodiscard]] std::string character_plot(const Plot& plot, std::size_t columns);

}  // namespace fatune
