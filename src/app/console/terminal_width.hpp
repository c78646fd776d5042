#pragma once

#include <cstddef>

namespace fatune {

/// Columns of the terminal that a descriptor is, as wide as it is now; where the terminal does not
/// know, `said`: the environment's COLUMNS. 0: it is not a terminal, or the width is unknown.
[[nodiscard]] std::size_t terminal_columns(int descriptor, std::size_t said);

}  // namespace fatune
