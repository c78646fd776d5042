#pragma once

#include <string>
#include <vector>

namespace fatune {

/// Headings and cells as text, however they are to be drawn.
struct TextTable {
  struct Column {
    std::string heading;
    bool align_right = false;
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  ///< each as long as `columns`
};

/// For a terminal: columns padded to their widest cell (in code points), two blanks between them.
/// Control characters in cells are replaced: no cell can move the cursor or break a line.
[[nodiscard]] std::string draw_plain(const TextTable& table);
/// A Markdown table; '|' in cells escaped.
[[nodiscard]] std::string draw_markdown(const TextTable& table);
/// RFC 4180: CRLF line ends, cells with comma, quote or line break quoted.
[[nodiscard]] std::string draw_csv(const TextTable& table);

}  // namespace fatune
