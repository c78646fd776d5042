#pragma once

#include <string>
#include <vector>

#include "core/output_format.hpp"
#include "emit/field_table.hpp"
#include "emit/json_text.hpp"

namespace fatune {

/// Rows in one of the formats that have no structure around them.
/// Precondition: `format` is not json.
template <typename Row>
std::string print_rows(const std::vector<Field<Row>>& fields, const std::vector<Row>& rows,
                       OutputFormat format) {
  if (format == OutputFormat::csv) {
    return draw_csv(table_for_programs(fields, rows));
  }
  const TextTable table = table_for_people(fields, rows);
  return format == OutputFormat::markdown ? draw_markdown(table) : draw_plain(table);
}

template <typename Row>
Json json_rows(const std::vector<Field<Row>>& fields, const std::vector<Row>& rows) {
  Json list = Json::array();
  for (const Row& row : rows) {
    list.push_back(json_object(fields, row));
  }
  return list;
}

}  // namespace fatune
