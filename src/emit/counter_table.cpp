#include "emit/counter_table.hpp"

#include <algorithm>

#include "core/outcome.hpp"
#include "counters/counter_fields.hpp"

namespace fatune {
namespace {

const std::vector<CounterValue>& counters_of(const Result& result) {
  static const std::vector<CounterValue> none;
  const auto* const measured = std::get_if<Measured>(&result.outcome);
  return measured == nullptr ? none : measured->counters;
}

FieldValue value_of(const Result& result, const std::string& name) {
  for (const CounterValue& counter : counters_of(result)) {
    if (counter.name == name) {
      return FieldValue{counter.value};
    }
  }
  return {};
}

/// The figures that a sweep reads and that at least one of the results has.
std::vector<CounterField> fields_of(const std::vector<const Result*>& results) {
  std::vector<CounterField> fields = counter_fields(CounterSet::core);
  std::erase_if(fields, [&](const CounterField& field) {
    return std::ranges::none_of(
        results, [&](const Result* result) { return has_value(value_of(*result, field.name)); });
  });
  return fields;
}

}  // namespace

Table counter_table(const std::vector<Result>& ranking) {
  std::vector<const Result*> results;
  for (const Result& result : ranking) {
    if (!counters_of(result).empty()) {
      results.push_back(&result);
    }
  }
  Table table{{}, std::vector<std::vector<FieldValue>>(results.size())};
  append_column_of(table, {.name = "rank", .heading = "rank"}, results,
                   [](const Result* result) { return std::int64_t{result->rank}; });
  append_column_of(table, {.name = "config", .heading = "config", .look = {.config = true}},
                   results, [](const Result* result) { return result->short_form; });
  append_counters(results, table);
  return table;
}

void append_counters(const std::vector<const Result*>& results, Table& table) {
  for (const CounterField& field : fields_of(results)) {
    append_column_of(
        table,
        {.name = field.name, .heading = field.title, .look = {.decimals = kBySize, .leaves = 1}},
        results, [&](const Result* result) { return value_of(*result, field.name); });
  }
}

}  // namespace fatune
