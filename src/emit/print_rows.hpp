#pragma once

#include <string>
#include <vector>

#include "emit/field_table.hpp"
#include "emit/json_text.hpp"
#include "emit/page.hpp"

namespace fatune {

/// Rows in one of the formats that have no structure around them.
/// Precondition: the page is not JSON's.
template <typename Row>
std::string print_rows(const std::vector<Field<Row>>& fields, const std::vector<Row>& rows,
                       const Page& page) {
  if (page.format == OutputFormat::csv) {
    return draw_csv(table_for_programs(fields, rows));
  }
  const TextTable table = table_for_people(fields, rows);
  return draw_table(table, page);
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
