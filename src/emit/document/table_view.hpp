#pragma once

#include "core/table_view.hpp"
#include "emit/document/document.hpp"
#include "emit/document/table.hpp"

// Records chosen, ordered and reduced by their typed fields: the same for all commands.
namespace fatune {

/// Error(usage) for a column that the table does not have, which lists those that it has, and for
/// an expression that cannot be read. A record of which it is not known whether the expression
/// holds, because values are absent, is not among those that are left.
[[nodiscard]] Table viewed(Table table, const TableView& view);

/// A document whose records are viewed; its warnings stay. As JSON it is a list of the records.
/// `document` must outlive it.
[[nodiscard]] Document viewed(const Document& document, const TableView& view);

/// A record as a JSON object, by the names of the columns.
[[nodiscard]] Json json_record(const Table& records, const std::vector<FieldValue>& row);
/// Each record in a line.
[[nodiscard]] std::string json_lines(const Table& records);

}  // namespace fatune
