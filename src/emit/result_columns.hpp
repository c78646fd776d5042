#pragma once

#include <string_view>
#include <vector>

#include "emit/document/table.hpp"
#include "emit/result_fields.hpp"
#include "report/report.hpp"

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

// Hardware counters of a sweep's results: figures of the table in src/counters.

/// A table with a row for each result that has counters, with its rank; no rows if none has.
[[nodiscard]] Table counter_table(const std::vector<Result>& ranking);

/// Appends a column for each figure that at least one of the results has. `results` are those of
/// the table's rows.
void append_counters(const std::vector<const Result*>& results, Table& table);

}  // namespace fatune
