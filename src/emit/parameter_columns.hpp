#pragma once

#include <string_view>
#include <vector>

#include "emit/document/table.hpp"
#include "emit/result_fields.hpp"

namespace fatune {

/// The parameters of a row's configuration.
struct RowParameters {
  std::string_view family;
  const std::vector<NamedValue>* parameters;
};

/// Appends a column for each parameter of the rows' families, except those that the table has a
/// column for (dtype, d_head). A parameter of several families has one column. A cell is empty if
/// the row's family has no such parameter. `rows` are those of the table.
void append_parameters(const std::vector<RowParameters>& rows, Table& table);
void append_parameters(const std::vector<ResultRow>& rows, Table& table);

}  // namespace fatune
