#pragma once

#include <string>
#include <vector>

#include "emit/field.hpp"
#include "emit/text_table.hpp"

namespace fatune {

/// Rows as a CSV table: every field.
template <typename Row>
TextTable table_for_programs(const std::vector<Field<Row>>& fields, const std::vector<Row>& rows) {
  TextTable table;
  for (const Field<Row>& field : fields) {
    table.columns.push_back({std::string(field.name), false, {}});
  }
  for (const Row& row : rows) {
    std::vector<std::string>& cells = table.rows.emplace_back();
    for (const Field<Row>& field : fields) {
      cells.push_back(csv_text(field.get(row)));
    }
  }
  return table;
}

/// Rows as a table for people: the fields shown in such a table (Shown::in_ranking or in_failures)
/// that have a value in at least one row.
template <typename Row>
TextTable table_for_people(const std::vector<Field<Row>>& fields, const std::vector<Row>& rows,
                           Shown kind = Shown::in_ranking) {
  TextTable table;
  table.rows.resize(rows.size());
  for (const Field<Row>& field : fields) {
    bool right = false;
    bool any = false;
    std::vector<std::string> cells;
    for (const Row& row : rows) {
      const FieldValue value = field.get(row);
      right = right || is_number(value);
      any = any || has_value(value);
      cells.push_back(cell_text(value, field.decimals));
    }
    if (!any || (field.shown != Shown::everywhere && field.shown != kind)) {
      continue;
    }
    table.columns.push_back({std::string(field.heading), right, field.fit});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      table.rows[i].push_back(std::move(cells[i]));
    }
  }
  return table;
}

}  // namespace fatune
