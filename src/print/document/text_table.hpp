#pragma once

#include <cstddef>
#include <optional>
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

/// How people see a column.
struct Look {
  int decimals = 0;  ///< decimals of doubles
  Shown shown = kEverywhere;
  bool wraps = false;  ///< texts that stay on a narrow terminal, and continue on the next line
};
inline constexpr Look kWraps{.wraps = true};
inline constexpr Look kProgramsOnly{.shown = kForPrograms};

/// Headings and cells as text, for any way of drawing.
struct TextTable {
  struct Column {
    std::string heading;
    bool align_right = false;
    bool wraps = false;  ///< Look::wraps
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  ///< each as long as `columns`
};

/// Draws a table for a terminal. Columns are padded to their widest cell (in code points), with two
/// spaces between them. Headings and cells are shown by visible_line(). No line is wider than
/// `columns` (0: no limit): parts that configurations share are stated once, columns are left out
/// from the right, and the others are narrowed (docs/tables.md). Notes above and below the table
/// say what gave way.
[[nodiscard]] std::string draw_plain(const TextTable& table, std::size_t columns = 0);
/// Draws a Markdown table. Headings and cells are escaped by markdown().
[[nodiscard]] std::string draw_markdown(const TextTable& table);
/// Draws CSV by RFC 4180: CRLF line ends; cells with a comma, quote or line break are quoted. Cells
/// are shown by visible_lines().
[[nodiscard]] std::string draw_csv(const TextTable& table);

/// Configurations whose common parts are stated once.
struct SharedParts {
  std::string common;  ///< "(FP16, 128, ...): async+...+opt_softmax"; or a whole configuration
  std::vector<std::string> rest;  ///< what each text has left: "64, 32, 4): buffer"; "-": nothing
};
/// Splits short forms, "(a, b, c): flag+flag", into what they have in common and the rest. The
/// common part has the first values of the tuples, as far as they are equal, and the flags that all
/// have. Other texts ("-") stay as they are. Nothing if nothing is common.
[[nodiscard]] std::optional<SharedParts> share_parts(const std::vector<std::string>& texts);

}  // namespace fatune
