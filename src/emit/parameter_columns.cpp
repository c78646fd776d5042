#include "emit/parameter_columns.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "core/is_among.hpp"
#include "emit/document/json_text.hpp"

namespace fatune {
namespace {

/// The names of the families' parameters, each once, whatever the order of the rows.
std::vector<std::string> parameter_names(const std::vector<ResultRow>& rows) {
  std::map<std::string, const Result*> one_of_family;
  for (const ResultRow& row : rows) {
    one_of_family.try_emplace(row.result->config.family, row.result);
  }
  std::vector<std::string> names;
  for (const auto& [family, result] : one_of_family) {
    for (const NamedValue& parameter : result->parameters) {
      if (std::ranges::find(names, parameter.name) == names.end()) {
        names.push_back(parameter.name);
      }
    }
  }
  return names;
}

FieldValue parameter_of(const Result& result, const std::string& name) {
  const auto found = std::ranges::find(result.parameters, name, &NamedValue::name);
  return found == result.parameters.end() ? FieldValue{} : typed_value(found->text);
}

}  // namespace

void append_parameters(const std::vector<ResultRow>& rows, Table& table) {
  for (const std::string& name : parameter_names(rows)) {
    if (is_among(name, table.columns, &Table::Column::name)) {
      continue;
    }
    std::vector<FieldValue> values;
    for (const ResultRow& row : rows) {
      values.push_back(parameter_of(*row.result, name));
    }
    append_column(table, {.name = name, .heading = name}, std::move(values));
  }
}

}  // namespace fatune
