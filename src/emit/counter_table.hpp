#pragma once

#include <string>
#include <vector>

#include "emit/field.hpp"
#include "emit/text_table.hpp"
#include "report/report.hpp"

// Hardware counters beside a sweep's results: figures of the table of src/counters.
namespace fatune {

/// A figure's cell for people: as many decimals as a number of that size needs.
[[nodiscard]] std::string counter_text(const FieldValue& value);

/// For people: a row for each of the entries that has counters, with its place; no rows when none
/// has.
[[nodiscard]] TextTable counter_table(const std::vector<Entry>& ranking);

/// For programs: appends a column for each figure that any of the entries has. `entries`: those of
/// the table's rows.
void append_counters(const std::vector<const Entry*>& entries, TextTable& table);

}  // namespace fatune
