#include "emit/document/text_table.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/visible_text.hpp"
#include "emit/document/table_layout.hpp"

namespace fatune {
namespace {

/// The table with headings and cells that cannot move the cursor.
TextTable visible(TextTable table) {
  for (auto& column : table.columns) {
    column.heading = visible_line(column.heading);
  }
  for (auto& row : table.rows) {
    std::ranges::transform(row, row.begin(), visible_line);
  }
  return table;
}

std::string plain_line(const std::vector<std::string>& cells, const FittedTable& fitted) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string padding(fitted.widths[i] - width_of(cells[i]), ' ');
    line += fitted.table.columns[i].align_right ? padding + cells[i] : cells[i] + padding;
    line += std::string(kColumnGap, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

/// The lines of a cell, each no wider than the column.
std::vector<std::string> lines_of(const std::string& cell, std::size_t column,
                                  const FittedTable& fitted) {
  const std::size_t width = fitted.widths[column];
  if (width_of(cell) <= width) {
    return {cell};
  }
  return wraps(fitted.table.columns[column].look) ? wrapped(cell, width)
                                                  : std::vector{shortened(cell, width)};
}

/// A row, with as many lines as its tallest cell.
std::string plain_row(const std::vector<std::string>& cells, const FittedTable& fitted) {
  std::vector<std::vector<std::string>> lines;
  std::size_t count = 1;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    count = std::max(count, lines.emplace_back(lines_of(cells[i], i, fitted)).size());
  }
  std::string text;
  for (std::size_t line = 0; line < count; ++line) {
    std::vector<std::string> parts;
    for (const auto& cell : lines) {
      parts.push_back(line < cell.size() ? cell[line] : std::string());
    }
    text += plain_line(parts, fitted);
  }
  return text;
}

/// Adds notes around a table: what its rows share, and which columns are missing.
std::string with_notes(const FittedTable& fitted, std::size_t columns, const std::string& drawn) {
  std::string above;
  for (const std::string& shared : fitted.shared) {
    above += shared + "\n";
  }
  const std::string below = fitted.left_out.empty()
                                ? std::string()
                                : fmt::format("left out at {} columns: {}; --format json has all\n",
                                              columns, fmt::join(fitted.left_out, ", "));
  return wrapped_lines(above, columns) + drawn + wrapped_lines(below, columns);
}

std::vector<std::string> headings_of(const TextTable& table) {
  std::vector<std::string> headings;
  headings.reserve(table.columns.size());
  for (const auto& column : table.columns) {
    headings.push_back(column.heading);
  }
  return headings;
}

std::string markdown_line(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) {
    line += " " + markdown(cell) + " |";
  }
  return line + "\n";
}

std::string csv_cell(const std::string& text) {
  const std::string cell = visible_lines(text);
  if (cell.find_first_of(",\"\r\n") == std::string::npos) {
    return cell;
  }
  std::string quoted = "\"";
  for (const char c : cell) {
    quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  }
  return quoted + "\"";
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    line += (i == 0 ? "" : ",") + csv_cell(cells[i]);
  }
  return line + "\r\n";
}

}  // namespace

std::string draw_plain(const TextTable& table, std::size_t columns) {
  const FittedTable fitted = fit_table(visible(table), columns);
  if (fitted.table.columns.empty()) {
    return with_notes(fitted, columns, "");
  }
  std::string text = plain_row(headings_of(fitted.table), fitted);
  for (const auto& row : fitted.table.rows) {
    text += plain_row(row, fitted);
  }
  return with_notes(fitted, columns, text);
}

std::string draw_markdown(const TextTable& table) {
  std::string text = markdown_line(headings_of(table)) + "|";
  for (const auto& column : table.columns) {
    text += column.align_right ? " ---: |" : " --- |";
  }
  text += "\n";
  for (const auto& row : table.rows) {
    text += markdown_line(row);
  }
  return text;
}

std::string draw_csv(const TextTable& table) {
  std::string text = csv_line(headings_of(table));
  for (const auto& row : table.rows) {
    text += csv_line(row);
  }
  return text;
}

}  // namespace fatune
