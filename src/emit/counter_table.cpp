#include "emit/counter_table.hpp"

#include <algorithm>

#include "core/outcome.hpp"
#include "counters/counter_fields.hpp"

namespace fatune {
namespace {

const std::vector<CounterValue>& counters_of(const Entry& entry) {
  static const std::vector<CounterValue> none;
  const auto* const measured = std::get_if<Measured>(&entry.outcome);
  return measured == nullptr ? none : measured->counters;
}

FieldValue value_of(const Entry& entry, const std::string& name) {
  for (const CounterValue& counter : counters_of(entry)) {
    if (counter.name == name) {
      return FieldValue{counter.value};
    }
  }
  return {};
}

/// The figures that a sweep reads and any of the entries has.
std::vector<CounterField> fields_of(const std::vector<const Entry*>& entries) {
  std::vector<CounterField> fields = counter_fields(CounterSet::core);
  std::erase_if(fields, [&](const CounterField& field) {
    return std::none_of(entries.begin(), entries.end(), [&](const Entry* entry) {
      return has_value(value_of(*entry, field.name));
    });
  });
  return fields;
}

}  // namespace

Table counter_table(const std::vector<Entry>& ranking) {
  std::vector<const Entry*> entries;
  std::vector<FieldValue> ranks;
  std::vector<FieldValue> configs;
  for (const Entry& entry : ranking) {
    if (!counters_of(entry).empty()) {
      entries.push_back(&entry);
      ranks.emplace_back(std::int64_t{entry.rank});
      configs.emplace_back(entry.short_form);
    }
  }
  Table table{{}, std::vector<std::vector<FieldValue>>(entries.size())};
  append_column(table, {.name = "rank", .heading = "rank"}, std::move(ranks));
  append_column(table, {.name = "config", .heading = "config", .fit = ColumnFit{.config = true}},
                std::move(configs));
  append_counters(entries, table);
  return table;
}

void append_counters(const std::vector<const Entry*>& entries, Table& table) {
  for (const CounterField& field : fields_of(entries)) {
    std::vector<FieldValue> values;
    for (const Entry* const entry : entries) {
      values.push_back(value_of(*entry, field.name));
    }
    append_column(table,
                  {.name = field.name,
                   .heading = field.title,
                   .decimals = kBySize,
                   .fit = ColumnFit{.leaves = 1}},
                  std::move(values));
  }
}

}  // namespace fatune
