#include "emit/profile_report.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "emit/counter_table.hpp"
#include "emit/coverage_text.hpp"
#include "emit/print_rows.hpp"
#include "emit/profile_fields.hpp"

namespace fatune {
namespace {

/// The most columns of the table with a row for each configuration; the registers are the last that
/// fit.
constexpr std::size_t kMostColumns = 9;
constexpr std::size_t kFirstColumns = 4;

FieldValue counter(const ProfiledConfig& row, const std::string& name) {
  const auto found = std::find_if(row.counters.begin(), row.counters.end(),
                                  [&](const auto& one) { return one.first == name; });
  return found == row.counters.end() ? FieldValue{} : FieldValue{found->second};
}

/// Column number `at`, before those that the table has: one for each of these figures.
void insert_counters(const std::vector<CounterField>& fields,
                     const std::vector<ProfiledConfig>& rows, std::size_t at, bool for_people,
                     TextTable& table) {
  for (const CounterField& field : fields) {
    const auto to = static_cast<std::ptrdiff_t>(at++);
    table.columns.insert(table.columns.begin() + to, {for_people ? field.title : field.name,
                                                      for_people, ColumnFit{.leaves = 3}});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const FieldValue value = counter(rows[i], field.name);
      table.rows[i].insert(table.rows[i].begin() + to,
                           for_people ? cell_text(value, field.decimals) : csv_text(value));
    }
  }
}

std::size_t column_after(const TextTable& table, std::string_view heading) {
  const auto found =
      std::find_if(table.columns.begin(), table.columns.end(),
                   [&](const TextTable::Column& column) { return column.heading == heading; });
  return found == table.columns.end() ? table.columns.size()
                                      : static_cast<std::size_t>(found - table.columns.begin()) + 1;
}

std::vector<CounterField> first_fields(const std::vector<CounterField>& fields) {
  const std::size_t count = fields.size() <= kMostColumns ? fields.size() : kFirstColumns;
  return {fields.begin(), fields.begin() + static_cast<std::ptrdiff_t>(count)};
}

std::string problem_name(const ProfiledConfig& row) {
  return row.problem ? describe(*row.problem) : "";
}

/// The configurations of each problem, in order.
std::vector<std::vector<ProfiledConfig>> by_problem(const std::vector<ProfiledConfig>& rows) {
  std::vector<std::vector<ProfiledConfig>> groups;
  for (const ProfiledConfig& row : rows) {
    if (groups.empty() || groups.back().front().problem != row.problem) {
      groups.emplace_back();
    }
    groups.back().push_back(row);
  }
  return groups;
}

/// A row for each figure, a column for each configuration.
TextTable figures_of(const std::vector<CounterField>& fields,
                     const std::vector<ProfiledConfig>& rows) {
  TextTable table{{{"figure", false, {}}, {"unit", false, {}}}, {}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    table.columns.push_back({fmt::format("#{}", i + 1), true, ColumnFit{.leaves = 1}});
  }
  for (const CounterField& field : fields) {
    std::vector<std::string>& cells = table.rows.emplace_back();
    cells = {field.name, field.unit};
    for (const ProfiledConfig& row : rows) {
      cells.push_back(cell_text(counter(row, field.name), field.decimals));
    }
  }
  return table;
}

TextTable ranking_of(const ProfileReport& report, const std::vector<ProfiledConfig>& rows) {
  TextTable table = table_for_people(profiled_config_fields(), rows);
  insert_counters(first_fields(report.fields), rows, column_after(table, "config"), true, table);
  table.columns.insert(table.columns.begin(), {"#", true, {}});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    table.rows[i].insert(table.rows[i].begin(), fmt::format("{}", i + 1));
  }
  return table;
}

std::string text_for_people(const ProfileReport& report, const Page& page) {
  std::string text = report.device.empty() ? "" : report.device + " | ";
  text += fmt::format("{} | {}{}\n", report.read_by, report.family,
                      report.source.empty() ? "" : ", " + report.source);
  for (const std::vector<ProfiledConfig>& rows : by_problem(report.rows)) {
    const std::string name = problem_name(rows.front());
    text += fmt::format("\n{}{}", name, name.empty() ? "" : ":\n");
    text += page.format == OutputFormat::markdown ? "\n" : "";
    text += draw_table(ranking_of(report, rows), page);
    if (report.fields.size() > kMostColumns) {
      text += "\n" + draw_table(figures_of(report.fields, rows), page);
    }
  }
  return text + incomplete_text(report.coverage);
}

Json json_counters(const ProfiledConfig& row) {
  Json counters = Json::object();
  for (const auto& [name, value] : row.counters) {
    counters[name] = value;
  }
  return counters;
}

Json json_fields(const std::vector<CounterField>& fields) {
  Json list = Json::array();
  for (const CounterField& field : fields) {
    list.push_back({{"name", field.name},
                    {"unit", field.unit},
                    {"doc", field.doc},
                    {"numerator", field.numerator},
                    {"denominator", field.denominator},
                    {"scale", field.scale}});
  }
  return list;
}

std::string text_for_programs(const ProfileReport& report) {
  Json json = {{"format", "fatune.profile"},
               {"format_version", 1},
               {"complete", report.coverage.complete},
               {"device", report.device},
               {"family", report.family},
               {"read_by", report.read_by},
               {"source", report.source}};
  json["figures"] = json_fields(report.fields);
  json["configs"] = Json::array();
  for (const ProfiledConfig& row : report.rows) {
    Json object = json_object(profiled_config_fields(), row);
    object["counters"] = json_counters(row);
    json["configs"].push_back(std::move(object));
  }
  return json_text(json);
}

}  // namespace

std::string print_profile(const ProfileReport& report, const Page& page) {
  if (page.format == OutputFormat::json) {
    return text_for_programs(report);
  }
  if (page.format == OutputFormat::csv) {
    TextTable table = table_for_programs(profiled_config_fields(), report.rows);
    insert_counters(report.fields, report.rows, column_after(table, "runs"), false, table);
    return draw_csv(table);
  }
  return text_for_people(report, page);
}

}  // namespace fatune
