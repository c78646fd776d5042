#pragma once

#include <cstddef>

namespace fatune {

/// Returns the current width in columns of the terminal that a descriptor refers to. If the
/// terminal does not know it, returns `said`, the environment's COLUMNS. 0: it is not a terminal,
/// or the width is unknown.
[[nodiscard]] std::size_t terminal_columns(int descriptor, std::size_t said);

}  // namespace fatune
