#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "plot/plot.hpp"

// What character_plot() consists of. Lines are at most `columns` wide and end with a line break.
namespace fatune {

/// Nothing where nothing can be drawn.
[[nodiscard]] std::string character_xy(const XyPlot& plot, std::size_t columns);
[[nodiscard]] std::string character_heat(const HeatMap& plot, std::size_t columns);

/// Text of any bytes, in as many lines as it needs; nothing for an empty one.
[[nodiscard]] std::string character_lines(std::string_view text, std::size_t columns);

}  // namespace fatune
