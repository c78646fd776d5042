#include "print/document/table.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text_parts.hpp"

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

}  // namespace

std::string cell_text(const FieldValue& value, int decimals) {
  return std::visit(CellText{decimals}, value);
}

std::string csv_text(const FieldValue& value) { return std::visit(CsvText{}, value); }

bool is_number(const FieldValue& value) {
  return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
}

bool has_value(const FieldValue& value) { return cell_text(value, 0) != "-"; }

std::optional<std::string> text_or_none(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional<std::string>(text);
}

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

void append_column(Table& table, Table::Column column, std::vector<FieldValue> values) {
  insert_column(table, table.columns.size(), std::move(column), std::move(values));
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
  for (const auto& row : table.rows) {
    auto& cells = text.rows.emplace_back();
    std::ranges::transform(row, std::back_inserter(cells), csv_text);
  }
  return text;
}

}  // namespace fatune
