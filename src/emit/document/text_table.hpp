#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fatune {

/// Which outputs show a field. CSV and JSON show all of them.
enum class Shown {
  everywhere,    ///< every table for people has it
  in_ranking,    ///< tables of results with a rank have it
  in_failures,   ///< tables of results without a rank have it
  for_programs,  ///< CSV and JSON only
};
inline constexpr Shown kEverywhere = Shown::everywhere;
inline constexpr Shown kInRanking = Shown::in_ranking;
inline constexpr Shown kInFailures = Shown::in_failures;
inline constexpr Shown kForPrograms = Shown::for_programs;

/// How people see a column, and how it gives way if a terminal's line is too narrow
/// (docs/tables.md).
struct Look {
  int decimals = 0;  ///< decimals of doubles
  Shown shown = kEverywhere;
  int leaves = 0;         ///< the order of leaving out columns, 1 first; 0: it stays
  std::size_t least = 0;  ///< wraps to this width before columns are left out; 0: only after
  bool once = false;      ///< a cell that all rows share is printed once, above the table
  bool config = false;    ///< configurations: common parts are printed once; the rest wraps
};
inline constexpr Look kWraps{.least = 24};
inline constexpr Look kProgramsOnly{.shown = kForPrograms};

/// Headings and cells as text, for any way of drawing.
struct TextTable {
  struct Column {
    std::string heading;
    bool align_right = false;
    Look look{};
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
