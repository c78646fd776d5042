#include "emit/plots/study_tables.hpp"

#include <algorithm>

#include "core/text_parts.hpp"
#include "emit/parameter_columns.hpp"
#include "emit/result_fields.hpp"

namespace fatune {
namespace {

/// Whether the result of `get` differs between rows.
template <typename Get>
bool differs(const std::vector<ResultRow>& rows, Get get) {
  return std::ranges::any_of(rows,
                             [&](const ResultRow& row) { return get(row) != get(rows.front()); });
}

/// Inserts a column in front of the table if it has more than one value.
template <typename Get>
void add_origin(const std::vector<ResultRow>& rows, const char* name, Get get, Table& table) {
  if (!differs(rows, get)) {
    return;
  }
  std::vector<FieldValue> values;
  for (const ResultRow& row : rows) {
    values.emplace_back(std::string(get(row)));
  }
  insert_column(table, 0, {.name = name, .heading = name}, std::move(values));
}

/// Leaves out the columns from `first_column` on in which all rows have the same value.
void leave_out_the_same(Table& table, std::size_t first_column) {
  for (std::size_t i = table.columns.size(); i-- > first_column;) {
    const bool same = std::ranges::all_of(
        table.rows, [&](const auto& row) { return row[i] == table.rows.front()[i]; });
    if (same) {
      table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(i));
      for (auto& row : table.rows) {
        row.erase(row.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
  }
}

}  // namespace

Table configuration_table(const StudyReport& report, const StudyRows& rows) {
  std::vector<ResultRow> results;
  for (const StudyRow& row : rows.rows) {
    results.push_back({row.run, row.problem, row.result});
  }
  Table table = table_of(result_fields(), results);
  const std::size_t first_parameter = table.columns.size();
  append_parameters(results, table);
  leave_out_the_same(table, first_parameter);
  add_origin(
      results, "problem", [](const ResultRow& r) { return describe(r.problem->problem); }, table);
  add_origin(
      results, "run",
      [&](const ResultRow& r) {
        return report.names[static_cast<std::size_t>(r.run - report.runs.data())];
      },
      table);
  return table;
}

}  // namespace fatune
