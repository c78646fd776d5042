#include "commands/profile/profile.hpp"

#include <fmt/format.h>

#include "base/ranges.hpp"
#include "model/flop.hpp"
#include "print/run_report.hpp"

namespace fatune {
namespace {

template <auto kMember>
const auto of_item = [](const TimelineRow& row) { return row.item.*kMember; };

std::optional<double> tflops(const ProfiledConfig& row, double flop) {
  const double us = row.duration_us.value_or(0.0);
  return us > 0.0 ? std::optional(flop / us * kFlopPerUsToTflops) : std::nullopt;
}

/// The rate of the problem's work by one convention for counting FLOP.
template <double (*kFlop)(const Problem&)>
const auto problem_tflops = [](const ProfiledConfig& row) {
  return row.problem ? tflops(row, kFlop(*row.problem)) : std::nullopt;
};

const auto sweep_difference = [](const ProfiledConfig& row) {
  const double us = row.duration_us.value_or(0.0);
  return row.sweep_us && us > 0.0 ? std::optional(100.0 * (us / *row.sweep_us - 1.0))
                                  : std::nullopt;
};

std::optional<DetailValue> profile_detail(const ProfiledConfig& row, const ProblemDetail& detail) {
  return row.problem ? std::optional(detail_value(detail, *row.problem)) : std::nullopt;
}

Fields<ProfiledConfig> figure_fields() {
  return {
      {"config", "config", kWraps, &ProfiledConfig::config},
      {"outcome", "outcome", kProgramsOnly, [](auto& r) { return outcome_name(r.outcome); }},
      {"runs", "runs", kProgramsOnly, &ProfiledConfig::runs},
      {"relative_percent", "rel %", decimals(1), &ProfiledConfig::relative_percent},
      {"literature_tflops", "TFLOP/s", decimals(1), problem_tflops<literature_flop>},
      {"attention_tflops", "attn", decimals(1), problem_tflops<attention_flop>},
      {"total_tflops", "total", decimals(1),
       [](auto& r) { return r.total_flop ? tflops(r, *r.total_flop) : std::nullopt; }},
      {"sweep_us", "sweep us", decimals(1), &ProfiledConfig::sweep_us},
      {"sweep_difference_percent", "diff %", decimals(1), sweep_difference},
      {"kernel_name", "kernel", kProgramsOnly, or_none<&ProfiledConfig::kernel_name>},
      {"detail", "detail", kWraps, or_none<&ProfiledConfig::detail>},
  };
}

/// The table with a row for each configuration shows all figures if there are at most this many,
/// else the first kFirstColumns.
constexpr std::size_t kMostColumns = 9;
constexpr std::size_t kFirstColumns = 4;

FieldValue counter(const ProfiledConfig& row, const std::string& name) {
  const auto found =
      std::ranges::find_if(row.counters, [&](const auto& one) { return one.first == name; });
  return found == row.counters.end() ? FieldValue{} : FieldValue{found->second};
}

/// Inserts a column for each of these figures in front of column number `at`.
void insert_counters(const std::vector<CounterField>& fields,
                     const std::vector<ProfiledConfig>& rows, std::size_t at, Table& table) {
  for (const CounterField& field : fields) {
    std::vector<FieldValue> values =
        mapped(rows, [&](const ProfiledConfig& row) { return counter(row, field.name); });
    insert_column(table, at++,
                  {.name = field.name,
                   .heading = field.title,
                   .look = {.decimals = field.decimals},
                   .figure = true},
                  std::move(values));
  }
}

std::vector<CounterField> first_fields(const std::vector<CounterField>& fields) {
  const std::size_t count = fields.size() <= kMostColumns ? fields.size() : kFirstColumns;
  return {fields.begin(), fields.begin() + static_cast<std::ptrdiff_t>(count)};
}

/// Groups neighbouring rows by problem.
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

/// A table with a row for each figure and a column for each configuration.
Table figures_of(const std::vector<CounterField>& fields, const std::vector<ProfiledConfig>& rows) {
  Table table{{{.name = "figure", .heading = "figure"}, {.name = "unit", .heading = "unit"}}, {}};
  for (const CounterField& field : fields) {
    table.rows.push_back({field.name, field.unit});
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string number = fmt::format("#{}", i + 1);
    append_column_of(table, {.name = number, .heading = number, .figure = true}, fields,
                     [&](const CounterField& field) {
                       return cell_text(counter(rows[i], field.name), field.decimals);
                     });
  }
  return table;
}

Table ranking_of(const ProfileReport& report, const std::vector<ProfiledConfig>& rows) {
  Table table = table_of(profiled_config_fields(), rows);
  insert_counters(first_fields(report.fields), rows, column_after(table, "config"), table);
  std::vector<FieldValue> numbers = mapped(std::views::iota(std::int64_t{1}, std::ssize(rows) + 1),
                                           [](std::int64_t number) { return FieldValue(number); });
  insert_column(table, 0, {.name = "number", .heading = "#"}, std::move(numbers));
  return table;
}

Blocks blocks_of(const ProfileReport& report) {
  Blocks blocks{block::Line{fmt::format(
      "{}{}{} | {}{}{}", report.device, report.device.empty() ? "" : " | ", report.read_by,
      report.family, report.source.empty() ? "" : ", ", report.source)}};
  for (const std::vector<ProfiledConfig>& rows : by_problem(report.rows)) {
    append(blocks, {block::Text{"\n"}});
    if (const auto& problem = rows.front().problem) {
      blocks.push_back(block::Line{describe(*problem) + ":"});
    }
    append(blocks, {block::ParagraphEnd{}, block::Rows{ranking_of(report, rows)}});
    if (report.fields.size() > kMostColumns) {
      append(blocks, {block::Text{"\n"}, block::Rows{figures_of(report.fields, rows)}});
    }
  }
  blocks.push_back(block::Text{incomplete_text(report.coverage)});
  return blocks;
}

Table records_of(const ProfileReport& report) {
  Table table = table_of(profiled_config_fields(), report.rows);
  insert_counters(report.fields, report.rows, column_after(table, "runs"), table);
  return table;
}

Json json_counters(const ProfiledConfig& row) {
  Json counters = Json::object();
  for (const auto& [name, value] : row.counters) {
    counters[name] = value;
  }
  return counters;
}

Json json_field(const CounterField& field) {
  return {{"name", field.name},
          {"unit", field.unit},
          {"doc", field.doc},
          {"numerator", field.numerator},
          {"denominator", field.denominator},
          {"scale", field.scale}};
}

Json json_row(const ProfiledConfig& row) {
  Json object = json_object(profiled_config_fields(), row);
  object["counters"] = json_counters(row);
  return object;
}

Json json_profile(const ProfileReport& report) {
  return json_document("profile", {{"complete", report.coverage.complete},
                                   {"device", report.device},
                                   {"family", report.family},
                                   {"read_by", report.read_by},
                                   {"source", report.source},
                                   {"figures", json_list(report.fields, json_field)},
                                   {"configs", json_list(report.rows, json_row)}});
}

}  // namespace

Fields<TimelineRow> timeline_fields() {
  using Item = TimelineItem;
  return {
      {"problem", "problem", kWraps, [](auto& row) { return describe(row.problem); }},
      {"kind", "kind", [](auto& row) { return row.is_range ? "range" : "kernel"; }},
      {"instances", "n", of_item<&Item::instances>},
      {"total_us", "total us", decimals(1), of_item<&Item::total_us>},
      {"mean_us", "mean", decimals(1), of_item<&Item::mean_us>},
      {"median_us", "median", decimals(1), of_item<&Item::median_us>},
      {"least_us", "least", decimals(1), of_item<&Item::least_us>},
      {"greatest_us", "greatest", decimals(1), of_item<&Item::greatest_us>},
      {"name", "name", kWraps, of_item<&Item::name>},
      {"report", "report", kProgramsOnly, &TimelineRow::report},
  };
}

Document timeline_document(const TimelineReport& report) {
  return rows_document("timeline", "rows", timeline_fields(), report.rows,
                       {.members = {{"complete", report.coverage.complete}},
                        .below = incomplete_text(report.coverage)});
}

Fields<ProfiledConfig> profiled_config_fields() {
  return joined_fields<ProfiledConfig>(
      {plain_problem_fields<ProfiledConfig>(&ProfiledConfig::problem, kProgramsOnly),
       detail_fields<ProfiledConfig>(profile_detail), figure_fields()});
}

Document profile_document(const ProfileReport& report) {
  return {[&] { return blocks_of(report); }, [&] { return records_of(report); },
          [&] { return json_profile(report); }};
}

}  // namespace fatune
