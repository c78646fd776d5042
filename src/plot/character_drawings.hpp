#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "plot/plot.hpp"

// The parts of character_plot(). Lines are at most `columns` wide and end with a line break.
namespace fatune {

/// Both return an empty text if nothing can be drawn.
[[nodiscard]] std::string character_xy(const XyPlot& plot, std::size_t columns);
[[nodiscard]] std::string character_heat(const HeatMap& plot, std::size_t columns);

/// Wraps text of any bytes into lines. An empty text has no line.
[[nodiscard]] std::string character_lines(std::string_view text, std::size_t columns);

}  // namespace fatune
