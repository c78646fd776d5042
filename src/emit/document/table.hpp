#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "emit/document/field.hpp"
#include "emit/document/text_table.hpp"

namespace fatune {

/// Rows of typed values, with everything that the formats need to know about their columns.
struct Table {
  struct Column {
    std::string name;     ///< its name in CSV; ends with its unit
    std::string heading;  ///< a short heading for people
    Look look{};
    bool figure = false;  ///< aligned like numbers, and shown to people even if no row has a value
    FieldType::Kind kind = FieldType::Kind::any;  ///< the kind of its values
  };
  std::vector<Column> columns;
  std::vector<std::vector<FieldValue>> rows;  ///< each as long as `columns`
};

template <typename Row>
Table table_of(const Fields<Row>& fields, const std::vector<Row>& rows) {
  Table table;
  for (const Field<Row>& field : fields) {
    table.columns.push_back({std::string(field.name), std::string(field.heading), field.look, false,
                             field.get.type().kind});
  }
  for (const Row& row : rows) {
    std::vector<FieldValue>& values = table.rows.emplace_back();
    values.reserve(fields.size());
    for (const Field<Row>& field : fields) {
      values.push_back(field.get(row));
    }
  }
  return table;
}

/// Inserts a column in front of column number `at`. `values` has one value for each row.
void insert_column(Table& table, std::size_t at, Table::Column column,
                   std::vector<FieldValue> values);
void append_column(Table& table, Table::Column column, std::vector<FieldValue> values);
/// Appends a column with get(row) for each of `rows`, which are those of the table.
template <typename Rows, typename Get>
void append_column_of(Table& table, Table::Column column, const Rows& rows, const Get& get) {
  std::vector<FieldValue> values;
  for (const auto& row : rows) {
    values.emplace_back(get(row));
  }
  append_column(table, std::move(column), std::move(values));
}
/// The number of the column after the one of that name; without one, the number of columns.
[[nodiscard]] std::size_t column_after(const Table& table, std::string_view name);

/// Whether people see the column: it is of `kind` or shown everywhere, and a row has a value.
[[nodiscard]] bool is_shown(const Table& table, std::size_t column, Shown kind);
/// The cells for people: the columns of `kind` and those shown everywhere, if any row has a value.
[[nodiscard]] TextTable text_for_people(const Table& table, Shown kind);
/// The cells of a CSV, with every column.
[[nodiscard]] TextTable text_for_programs(const Table& table);

}  // namespace fatune
