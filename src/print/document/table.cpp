#include "print/document/table.hpp"

#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text_parts.hpp"
#include "base/visible_text.hpp"

namespace fatune {
namespace {

struct CellText {
  int decimals;

  std::string operator()(std::monostate) const { return "-"; }
  std::string operator()(bool value) const { return value ? "yes" : "no"; }
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const {
    constexpr double kWhole = 10000.0;
    const int shown = decimals != kBySize ? decimals : value >= kWhole ? 0 : 2;
    return std::isfinite(value) ? fmt::format("{:.{}f}", value, shown) : "-";
  }
  std::string operator()(const std::string& value) const { return value.empty() ? "-" : value; }
};

/// Whether a spreadsheet would evaluate the text as a formula, which may start a program.
bool begins_formula(std::string_view text) {
  constexpr std::string_view kSigns = "=+-@\t\r";
  const bool is_sign = !text.empty() && kSigns.find(text.front()) != std::string_view::npos;
  return is_sign && !whole_number<double>(text);
}

struct CsvText {
  std::string operator()(std::monostate) const { return {}; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const {
    return std::isfinite(value) ? fmt::format("{}", value) : std::string();
  }
  std::string operator()(const std::string& value) const {
    return begins_formula(value) ? "'" + value : value;
  }
};

bool holds_numbers(const Table& table, std::size_t column) {
  return table.columns[column].figure ||
         std::ranges::any_of(table.rows, [&](const auto& row) { return is_number(row[column]); });
}

using Words = std::vector<std::string>;

constexpr std::size_t kColumnGap = 2;

/// A table fitted to a line width.
struct FittedTable {
  TextTable table;                  ///< has the remaining columns
  std::vector<std::size_t> widths;  ///< one for each column; wider cells are wrapped or shortened
  std::string shared{};             ///< lines: what all rows of a column have in common
  Words left_out{};                 ///< headings of the columns that were left out
};

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

/// The widths of the columns, of which those of texts are at most `most` wide.
std::vector<std::size_t> widths_of(const TextTable& table, std::size_t most) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::size_t width = greatest_of(
        table.rows, [&](const Words& row) { return width_of(row[i]); },
        width_of(table.columns[i].heading));
    widths.push_back(table.columns[i].align_right ? width : std::min(width, most));
  }
  return widths;
}

std::size_t line_width(const std::vector<std::size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), kColumnGap * (widths.size() - 1));
}

/// States above the table what the configurations of a column have in common.
void share_columns(FittedTable& fitted) {
  TextTable& table = fitted.table;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const auto parts = share_parts(mapped(table.rows, [&](const Words& row) { return row[i]; }));
    if (parts && table.columns[i].wraps && table.rows.size() > 1) {
      fitted.shared += fmt::format("every {}: {}\n", table.columns[i].heading, parts->common);
      for (std::size_t row = 0; row < table.rows.size(); ++row) {
        table.rows[row][i] = parts->rest[row];
      }
    }
  }
}

/// Leaves out columns from the last to the second, except for those that wrap.
void leave_out_columns(std::size_t columns, FittedTable& fitted) {
  constexpr std::size_t kMostOfText = 24;
  TextTable& table = fitted.table;
  for (auto at = std::ssize(table.columns) - 1;
       at > 0 && line_width(widths_of(table, kMostOfText)) > columns; --at) {
    const auto column = table.columns.begin() + at;
    if (!column->wraps) {
      fitted.left_out.insert(fitted.left_out.begin(), column->heading);
      table.columns.erase(column);
      std::ranges::for_each(table.rows, [&](Words& row) { row.erase(row.begin() + at); });
    }
  }
}

FittedTable fit_table(TextTable table, std::size_t columns) {
  constexpr std::size_t kAny = std::string::npos;
  FittedTable fitted{std::move(table), {}};
  fitted.widths = widths_of(fitted.table, kAny);
  if (columns == 0 || fitted.widths.empty() || line_width(fitted.widths) <= columns) {
    return fitted;
  }
  share_columns(fitted);
  leave_out_columns(columns, fitted);
  fitted.widths = widths_of(fitted.table, kAny);
  while (line_width(fitted.widths) > columns && std::ranges::max(fitted.widths) > 1) {
    --*std::ranges::max_element(fitted.widths);
  }
  return fitted;
}

std::string plain_line(const Words& cells, const FittedTable& fitted) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string padding(fitted.widths[i] - width_of(cells[i]), ' ');
    line += fitted.table.columns[i].align_right ? padding + cells[i] : cells[i] + padding;
    line += std::string(kColumnGap, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

/// A row, with as many lines as its tallest cell.
std::string plain_row(const Words& cells, const FittedTable& fitted) {
  std::vector<Words> lines;
  std::size_t count = 1;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::size_t width = fitted.widths[i];
    lines.push_back(width_of(cells[i]) <= width     ? Words{cells[i]}
                    : fitted.table.columns[i].wraps ? wrapped(cells[i], width)
                                                    : Words{shortened(cells[i], width)});
    count = std::max(count, lines.back().size());
  }
  std::string text;
  for (std::size_t line = 0; line < count; ++line) {
    text += plain_line(
        mapped(lines,
               [&](const Words& cell) { return line < cell.size() ? cell[line] : std::string(); }),
        fitted);
  }
  return text;
}

std::vector<std::string> headings_of(const TextTable& table) {
  return mapped(table.columns, &TextTable::Column::heading);
}

std::string markdown_line(const std::vector<std::string>& cells) {
  return "|" +
         joined(cells, "", [&](const std::string& cell) { return " " + markdown(cell) + " |"; }) +
         "\n";
}

std::string csv_cell(const std::string& text) {
  const std::string cell = visible_lines(text);
  if (cell.find_first_of(",\"\r\n") == std::string::npos) {
    return cell;
  }
  const auto doubled = [](char c) { return std::string(c == '"' ? 2 : 1, c); };
  return '"' + joined(cell, "", doubled) + '"';
}

std::string csv_line(const std::vector<std::string>& cells) {
  return joined(cells, ",", csv_cell) + "\r\n";
}

/// The values and flags of a short form. No values: the text is not a short form.
struct Parts {
  Words values;
  Words flags;
};

Parts parts_of(std::string_view text) {
  Parts parts;
  const std::size_t end = text.find("): ");
  if (!text.starts_with('(') || end == text.npos) {
    return parts;
  }
  std::string_view values = text.substr(1, end - 1);
  std::string_view flags = text.substr(end + 3);
  while (!values.empty()) {
    parts.values.emplace_back(trim(take_until(values, ',')));
  }
  while (!flags.empty()) {
    parts.flags.emplace_back(take_until(flags, '+'));
  }
  return parts;
}

Parts common_of(const Parts& a, const Parts& b) {
  const auto end = std::ranges::mismatch(a.values, b.values).in1;
  Parts common{{a.values.begin(), end}, a.flags};
  std::erase_if(common.flags, [&](const std::string& flag) { return !is_among(flag, b.flags); });
  return common;
}

/// The common values and flags, with "..." for the others of `first`.
std::string common_text(const Parts& first, const Parts& common) {
  Words values = common.values;
  if (values.size() < first.values.size()) {
    values.emplace_back("...");
  }
  Words flags = mapped(first.flags, [&](const std::string& flag) {
    return is_among(flag, common.flags) ? flag : std::string("...");
  });
  flags.erase(std::ranges::unique(flags).begin(), flags.end());
  return fmt::format("({}): {}", fmt::join(values, ", "), fmt::join(flags, "+"));
}

std::string rest_of(const Parts& parts, const Parts& common) {
  const Words values(parts.values.begin() + std::ssize(common.values), parts.values.end());
  Words flags = parts.flags;
  std::erase_if(flags, [&](const std::string& flag) { return is_among(flag, common.flags); });
  const std::string text =
      fmt::format("{}{}{}{}", fmt::join(values, ", "), values.empty() ? "" : ")",
                  values.empty() || flags.empty() ? "" : ": ", fmt::join(flags, "+"));
  return text.empty() ? "-" : text;
}

}  // namespace

std::string draw_plain(const TextTable& table, std::size_t columns) {
  const FittedTable fitted = fit_table(visible(table), columns);
  std::string text = wrapped_lines(fitted.shared, columns);
  if (!fitted.table.columns.empty()) {
    text += plain_row(headings_of(fitted.table), fitted);
    for (const auto& row : fitted.table.rows) {
      text += plain_row(row, fitted);
    }
  }
  return fitted.left_out.empty()
             ? text
             : text +
                   wrapped_lines(fmt::format("left out at {} columns: {}; --format json has all\n",
                                             columns, fmt::join(fitted.left_out, ", ")),
                                 columns);
}

std::string draw_markdown(const TextTable& table) {
  const auto below = [](const auto& column) { return column.align_right ? " ---: |" : " --- |"; };
  return markdown_line(headings_of(table)) + "|" + joined(table.columns, "", below) + "\n" +
         joined(table.rows, "", markdown_line);
}

std::string draw_csv(const TextTable& table) {
  return csv_line(headings_of(table)) + joined(table.rows, "", csv_line);
}

std::optional<SharedParts> share_parts(const std::vector<std::string>& texts) {
  std::vector<Parts> all = mapped(texts, parts_of);
  std::optional<Parts> common;
  const Parts* first = nullptr;
  for (const Parts& parts : all) {
    if (!parts.values.empty()) {
      first = first == nullptr ? &parts : first;
      common = common_of(common.value_or(parts), parts);
    }
  }
  if (!common || (common->values.empty() && common->flags.empty())) {
    return std::nullopt;
  }
  SharedParts shared{common_text(*first, *common), {}};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    shared.rest.push_back(all[i].values.empty() ? texts[i] : rest_of(all[i], *common));
  }
  return shared;
}

std::string cell_text(const FieldValue& value, int decimals) {
  return std::visit(CellText{decimals}, value);
}

std::string csv_text(const FieldValue& value) { return std::visit(CsvText{}, value); }

bool is_shown(const Table& table, std::size_t column, Shown kind) {
  const Table::Column& what = table.columns[column];
  return (what.look.shown == kEverywhere || what.look.shown == kind) &&
         (what.figure ||
          std::ranges::any_of(table.rows, [&](const auto& row) { return has_value(row[column]); }));
}

void insert_column(Table& table, std::size_t at, Table::Column column,
                   std::vector<FieldValue> values) {
  const auto to = static_cast<std::ptrdiff_t>(at);
  table.columns.insert(table.columns.begin() + to, std::move(column));
  for (std::size_t i = 0; i < values.size(); ++i) {
    table.rows[i].insert(table.rows[i].begin() + to, std::move(values[i]));
  }
}

std::size_t column_after(const Table& table, std::string_view name) {
  const auto found = std::ranges::find(table.columns, name, &Table::Column::name);
  return found == table.columns.end() ? table.columns.size()
                                      : static_cast<std::size_t>(found - table.columns.begin()) + 1;
}

TextTable text_for_people(const Table& table, Shown kind) {
  TextTable text;
  text.rows.resize(table.rows.size());
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (!is_shown(table, i, kind)) {
      continue;
    }
    const Table::Column& column = table.columns[i];
    text.columns.push_back({column.heading, holds_numbers(table, i), column.look.wraps});
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      text.rows[row].push_back(cell_text(table.rows[row][i], column.look.decimals));
    }
  }
  return text;
}

TextTable text_for_programs(const Table& table) {
  TextTable text;
  for (const Table::Column& column : table.columns) {
    text.columns.push_back({.heading = column.name});
  }
  text.rows = mapped(table.rows, [](const auto& row) { return mapped(row, csv_text); });
  return text;
}

}  // namespace fatune
