#pragma once

#include <vector>

#include "emit/document/table.hpp"
#include "report/report.hpp"

// Hardware counters of a sweep's results: figures of the table in src/counters.
namespace fatune {

/// A table with a row for each result that has counters, with its rank; no rows if none has.
[[nodiscard]] Table counter_table(const std::vector<Result>& ranking);

/// Appends a column for each figure that at least one of the results has. `results` are those of
/// the table's rows.
void append_counters(const std::vector<const Result*>& results, Table& table);

}  // namespace fatune
