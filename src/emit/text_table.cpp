#include "emit/text_table.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace fatune {
namespace {

/// Code points of UTF-8 text: bytes that do not continue one.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

std::string without_control_characters(std::string text) {
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20U || byte == 0x7FU) {
      c = ' ';
    }
  }
  return text;
}

std::vector<std::size_t> column_widths(const TextTable& table) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    std::size_t width = width_of(table.columns[i].heading);
    for (const auto& row : table.rows) {
      width = std::max(width, width_of(row[i]));
    }
    widths.push_back(width);
  }
  return widths;
}

std::string plain_line(const std::vector<std::string>& cells, const TextTable& table,
                       const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string cell = without_control_characters(cells[i]);
    const std::string padding(widths[i] - width_of(cell), ' ');
    line += table.columns[i].align_right ? padding + cell : cell + padding;
    line += "  ";
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
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
    line += ' ';
    for (const char c : without_control_characters(cell)) {
      line += c == '|' ? std::string("\\|") : std::string(1, c);
    }
    line += " |";
  }
  return line + "\n";
}

std::string csv_cell(const std::string& cell) {
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

std::string draw_plain(const TextTable& table) {
  const std::vector<std::size_t> widths = column_widths(table);
  std::string text = plain_line(headings_of(table), table, widths);
  for (const auto& row : table.rows) {
    text += plain_line(row, table, widths);
  }
  return text;
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
