#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "emit/document/text_table.hpp"

namespace fatune {

/// A table as it fits a number of columns: plain data.
struct FittedTable {
  TextTable table;                    ///< with the columns that are left
  std::vector<std::size_t> widths;    ///< of these; a wider cell is wrapped or shortened
  std::vector<std::string> shared;    ///< "heading: what all rows have in common"
  std::vector<std::string> left_out;  ///< headings of the columns that had to leave
};

/// The blanks between two columns.
inline constexpr std::size_t kColumnGap = 2;

/// Until its lines have `columns` or less: says once what rows have in common, lets columns leave
/// in their order, and narrows the others (docs/tables.md). 0: any number.
[[nodiscard]] FittedTable fit_table(TextTable table, std::size_t columns);

/// Whether cells of the column go on in a line below when they are wider than it.
[[nodiscard]] bool wraps(const ColumnFit& fit);

}  // namespace fatune
