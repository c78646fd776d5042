#pragma once

#include <string>
#include "core/output_format.hpp"
#include "emit/document/document.hpp"
#include "emit/document/table.hpp"

// Filters, sorts and selects records by their typed fields, in the same way for all commands.
namespace fatune {

/// Filters and sorts the records and selects columns. A record is dropped if absent values leave it
/// unknown whether the filter holds. Throws Error(usage) for an unknown column, with a list of the
/// table's columns, and for an expression that cannot be read.
[[nodiscard]] Table viewed(Table table, const TableView& view);

/// A document of the viewed records and the warnings of `document`. As JSON it is a list of the
/// records. `document` must outlive it.
[[nodiscard]] Document viewed(const Document& document, const TableView& view);

/// A record as a JSON object whose keys are the names of the columns.
[[nodiscard]] Json json_record(const Table& records, const std::vector<FieldValue>& row);
/// The records as JSON, one on each line.
[[nodiscard]] std::string json_lines(const Table& records);

}  // namespace fatune
