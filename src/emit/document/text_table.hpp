#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fatune {

/// How a column of a terminal table gives way if the line is too narrow (docs/tables.md).
struct ColumnFit {
  int leaves = 0;         ///< the order of leaving out columns, 1 first; 0: it stays
  std::size_t least = 0;  ///< wraps to this width before columns are left out; 0: only after
  bool once = false;      ///< a cell that all rows share is printed once, above the table
  bool config = false;    ///< configurations: common parts are printed once; the rest wraps
};
inline constexpr ColumnFit kWraps{.least = 24};

/// Headings and cells as text, for any way of drawing.
struct TextTable {
  struct Column {
    std::string heading;
    bool align_right = false;
    ColumnFit fit{};
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  ///< each as long as `columns`
};

/// Draws a table for a terminal. Columns are padded to their widest cell (in code points), with two
/// spaces between them. Headings and cells are shown by visible_line(). No line is wider than
/// `columns` (0: no limit); notes above and below the table say what gave way.
[[nodiscard]] std::string draw_plain(const TextTable& table, std::size_t columns = 0);
/// Draws a Markdown table. Headings and cells are escaped by markdown().
[[nodiscard]] std::string draw_markdown(const TextTable& table);
/// Draws CSV by RFC 4180: CRLF line ends; cells with a comma, quote or line break are quoted. Cells
/// are shown by visible_lines().
[[nodiscard]] std::string draw_csv(const TextTable& table);

}  // namespace fatune
