#include "emit/parameter_columns.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "core/ranges.hpp"
#include "emit/document/json_text.hpp"

namespace fatune {
namespace {

/// The names of the families' parameters, each once, whatever the order of the rows.
std::vector<std::string> parameter_names(const std::vector<RowParameters>& rows) {
  std::map<std::string_view, const std::vector<NamedValue>*> one_of_family;
  for (const RowParameters& row : rows) {
    one_of_family.try_emplace(row.family, row.parameters);
  }
  std::vector<std::string> names;
  for (const auto& [family, parameters] : one_of_family) {
    for (const NamedValue& parameter : *parameters) {
      if (std::ranges::find(names, parameter.name) == names.end()) {
        names.push_back(parameter.name);
      }
    }
  }
  return names;
}

FieldValue parameter_of(const RowParameters& row, const std::string& name) {
  const auto found = std::ranges::find(*row.parameters, name, &NamedValue::name);
  return found == row.parameters->end() ? FieldValue{} : typed_value(found->text);
}

}  // namespace

void append_parameters(const std::vector<RowParameters>& rows, Table& table) {
  for (const std::string& name : parameter_names(rows)) {
    if (is_among(name, table.columns, &Table::Column::name)) {
      continue;
    }
    append_column_of(table, {.name = name, .heading = name, .look = {.leaves = 1}}, rows,
                     [&](const RowParameters& row) { return parameter_of(row, name); });
  }
}

void append_parameters(const std::vector<ResultRow>& rows, Table& table) {
  append_parameters(
      mapped(rows,
             [](const ResultRow& row) {
               return RowParameters{row.result->config.family, &row.result->parameters};
             }),
      table);
}

}  // namespace fatune
