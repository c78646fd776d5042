#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "emit/document/text_table.hpp"

namespace fatune {

/// A table fitted to a line width.
struct FittedTable {
  TextTable table;                    ///< has the remaining columns
  std::vector<std::size_t> widths;    ///< one for each column; wider cells are wrapped or shortened
  std::vector<std::string> shared;    ///< "heading: what all rows have in common"
  std::vector<std::string> left_out;  ///< headings of the columns that were left out
};

/// The number of spaces between two columns.
inline constexpr std::size_t kColumnGap = 2;

/// Fits a table to lines of at most `columns` columns (docs/tables.md): states what rows have in
/// common once, leaves out columns in the order of Look::leaves, then narrows the others.
/// 0: no limit.
[[nodiscard]] FittedTable fit_table(TextTable table, std::size_t columns);

/// Whether cells that are wider than the column continue on the next line.
[[nodiscard]] bool wraps(const Look& look);

}  // namespace fatune
