#pragma once

#include <vector>

#include "emit/document/table.hpp"
#include "report/report.hpp"

// Hardware counters beside a sweep's results: figures of the table of src/counters.
namespace fatune {

/// A row for each of the results that has counters, with its place; no rows when none has.
[[nodiscard]] Table counter_table(const std::vector<Result>& ranking);

/// Appends a column for each figure that any of the results has. `results`: those of the table's
/// rows.
void append_counters(const std::vector<const Result*>& results, Table& table);

}  // namespace fatune
