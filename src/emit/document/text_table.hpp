#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fatune {

/// How a column of a table on a terminal gives way where a line has no room (docs/tables.md).
struct ColumnFit {
  int leaves = 0;         ///< 1 leaves the table first; 0: it stays
  std::size_t least = 0;  ///< it wraps, down to this width before others leave; 0: only after that
  bool once = false;      ///< a cell that all rows share is said once, above the table
  bool config = false;    ///< configurations: what all have in common is said once; the rest wraps
};
inline constexpr ColumnFit kWraps{.least = 24};

/// Headings and cells as text, however they are to be drawn.
struct TextTable {
  struct Column {
    std::string heading;
    bool align_right = false;
    ColumnFit fit{};
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  ///< each as long as `columns`
};

/// For a terminal: columns padded to their widest cell (in code points), two blanks between them.
/// Control characters in cells are replaced, and those of the direction of writing: no cell can
/// move the cursor or break a line.
/// `columns`: no line is wider; what had to give way is said above and below. 0: as wide as it is.
[[nodiscard]] std::string draw_plain(const TextTable& table, std::size_t columns = 0);
/// A Markdown table; in cells, what would be markup or HTML is escaped.
[[nodiscard]] std::string draw_markdown(const TextTable& table);
/// RFC 4180: CRLF line ends, cells with comma, quote or line break quoted.
[[nodiscard]] std::string draw_csv(const TextTable& table);

}  // namespace fatune
