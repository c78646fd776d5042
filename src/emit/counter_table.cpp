#include "emit/counter_table.hpp"

#include <algorithm>

#include <fmt/format.h>

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

std::string counter_text(const FieldValue& value) {
  const auto* const number = std::get_if<double>(&value);
  constexpr double kWhole = 10000.0;
  return cell_text(value, number != nullptr && *number >= kWhole ? 0 : 2);
}

TextTable counter_table(const std::vector<Entry>& ranking) {
  std::vector<const Entry*> entries;
  for (const Entry& entry : ranking) {
    if (!counters_of(entry).empty()) {
      entries.push_back(&entry);
    }
  }
  TextTable table{{{"rank", true, {}}, {"config", false, ColumnFit{.config = true}}}, {}};
  for (const Entry* const entry : entries) {
    table.rows.push_back({fmt::format("{}", entry->rank), entry->short_form});
  }
  for (const CounterField& field : fields_of(entries)) {
    table.columns.push_back({field.title, true, ColumnFit{.leaves = 1}});
    for (std::size_t i = 0; i < entries.size(); ++i) {
      table.rows[i].push_back(counter_text(value_of(*entries[i], field.name)));
    }
  }
  return table;
}

void append_counters(const std::vector<const Entry*>& entries, TextTable& table) {
  for (const CounterField& field : fields_of(entries)) {
    table.columns.push_back({field.name, false, {}});
    for (std::size_t i = 0; i < entries.size(); ++i) {
      table.rows[i].push_back(csv_text(value_of(*entries[i], field.name)));
    }
  }
}

}  // namespace fatune
