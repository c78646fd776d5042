#include "print/run_report.hpp"

#include <cctype>
#include <map>

#include "base/ranges.hpp"
#include "inspect/counters/counter_fields.hpp"

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
      if (!is_among(parameter.name, names)) {
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

/// The text with '#' in place of each number.
std::string without_numbers(const std::string& text) {
  std::string masked;
  for (const char c : text) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    const bool is_point = c == '.' && masked.ends_with('#');
    if (!is_digit && !is_point) {
      masked += c;
    } else if (!masked.ends_with('#')) {
      masked += '#';
    }
  }
  return masked;
}

FailureGroup failure_of(const Problem& problem, const Result& result) {
  FailureGroup failure{outcome_kind(result.outcome), outcome_summary(result.outcome),
                       outcome_summary(result.outcome), result.short_form, describe(problem)};
  if (const auto* const pruned = std::get_if<Pruned>(&result.outcome)) {
    failure.reason = pruned->rule;
  } else if (const auto* const invalid = std::get_if<Invalid>(&result.outcome)) {
    failure.reason = invalid->rule;
  }
  return failure;
}

bool is_dropped(const FailureGroup& group) { return group.outcome == OutcomeKind::pruned; }

}  // namespace

void append_parameters(const std::vector<RowParameters>& rows, Table& table) {
  for (const std::string& name : parameter_names(rows)) {
    if (is_among(name, table.columns, &Table::Column::name)) {
      continue;
    }
    append_column_of(table, {.name = name, .heading = name}, rows,
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
  append_column_of(table, {.name = "config", .heading = "config", .look = {.wraps = true}}, results,
                   [](const Result* result) { return result->short_form; });
  append_counters(results, table);
  return table;
}

void append_counters(const std::vector<const Result*>& results, Table& table) {
  for (const CounterField& field : fields_of(results)) {
    append_column_of(table,
                     {.name = field.name, .heading = field.title, .look = {.decimals = kBySize}},
                     results, [&](const Result* result) { return value_of(*result, field.name); });
  }
}

std::vector<FailureGroup> grouped(const std::vector<FailureGroup>& failures) {
  std::map<std::pair<OutcomeKind, std::string>, std::size_t> place_of;
  std::vector<FailureGroup> groups;
  for (const FailureGroup& failure : failures) {
    const auto [found, is_new] =
        place_of.try_emplace({failure.outcome, without_numbers(failure.reason)}, groups.size());
    if (is_new) {
      groups.push_back(failure);
    } else {
      groups[found->second].count += failure.count;
    }
  }
  std::ranges::stable_sort(groups, [](const FailureGroup& a, const FailureGroup& b) {
    return is_dropped(a) != is_dropped(b) ? is_dropped(b) : a.count > b.count;
  });
  return groups;
}

std::vector<FailureGroup> failure_groups(const RunReport& run) {
  std::vector<FailureGroup> failures;
  for (const ProblemReport& problem : run.problems) {
    for (const Result& result : problem.failures) {
      failures.push_back(failure_of(problem.problem, result));
    }
  }
  return grouped(failures);
}

Fields<FailureGroup> failure_group_fields() {
  using G = FailureGroup;
  return {
      {"count", "count", &G::count},
      {"outcome", "outcome", [](const G& g) { return outcome_name(g.outcome); }},
      {"detail", "why", kWraps, &G::why},
      {"config", "for example", kWraps, &G::config},
      {"problem", "on", or_none<&G::problem>},
  };
}

}  // namespace fatune
