#pragma once

#include <cstddef>
#include <string>

#include "plot/plot.hpp"

namespace fatune {

/// The plot in braille and box characters (UTF-8), at most `columns` wide, with axes, ticks and
/// legend; readable without colour. Lines end with a line break. Bytes of texts that a terminal
/// would obey are shown as U+FFFD. A parallel plot is drawn as a note that it needs SVG. `columns`:
/// 0 is 100; less than 40 is drawn as 40.
[[nodiscard]] std::string character_plot(const Plot& plot, std::size_t columns);

}  // namespace fatune
