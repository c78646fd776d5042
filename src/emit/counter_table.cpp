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
  std::vector<FieldValue> ranks;
  std::vector<FieldValue> configs;
  for (const Result& result : ranking) {
    if (!counters_of(result).empty()) {
      results.push_back(&result);
      ranks.emplace_back(std::int64_t{result.rank});
      configs.emplace_back(result.short_form);
    }
  }
  Table table{{}, std::vector<std::vector<FieldValue>>(results.size())};
  append_column(table, {.name = "rank", .heading = "rank"}, std::move(ranks));
  append_column(table, {.name = "config", .heading = "config", .look = {.config = true}},
                std::move(configs));
  append_counters(results, table);
  return table;
}

void append_counters(const std::vector<const Result*>& results, Table& table) {
  for (const CounterField& field : fields_of(results)) {
    std::vector<FieldValue> values;
    for (const Result* const result : results) {
      values.push_back(value_of(*result, field.name));
    }
    append_column(
        table,
        {.name = field.name, .heading = field.title, .look = {.decimals = kBySize, .leaves = 1}},
        std::move(values));
  }
}

}  // namespace fatune
