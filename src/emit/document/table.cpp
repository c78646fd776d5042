#include "emit/document/table.hpp"

#include <algorithm>
#include <utility>

namespace fatune {
namespace {

bool holds_numbers(const Table& table, std::size_t column) {
  return table.columns[column].figure ||
         std::ranges::any_of(table.rows, [&](const auto& row) { return is_number(row[column]); });
}

}  // namespace

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
    text.columns.push_back({column.heading, holds_numbers(table, i), column.look});
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      text.rows[row].push_back(cell_text(table.rows[row][i], column.look.decimals));
    }
  }
  return text;
}

TextTable text_for_programs(const Table& table) {
  TextTable text;
  for (const Table::Column& column : table.columns) {
    text.columns.push_back({column.name, false, {}});
  }
  for (const auto& row : table.rows) {
    auto& cells = text.rows.emplace_back();
    std::ranges::transform(row, std::back_inserter(cells), csv_text);
  }
  return text;
}

}  // namespace fatune
