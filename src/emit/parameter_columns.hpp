#pragma once

#include <vector>

#include "emit/document/table.hpp"
#include "emit/result_fields.hpp"

namespace fatune {

/// Appends a column for each parameter of the rows' families that the table has no column for
/// (dtype, d_head); those of several families once. A cell is empty where the result's family has
/// no such parameter. `rows`: those of the table.
void append_parameters(const std::vector<ResultRow>& rows, Table& table);

}  // namespace fatune
