#include "emit/timeline_report.hpp"

#include "emit/coverage.hpp"

namespace fatune {
namespace {

template <auto kMember>
const auto of_item = [](const TimelineRow& row) { return row.item.*kMember; };

}  // namespace

const Fields<TimelineRow>& timeline_fields() {
  using Item = TimelineItem;
  static const Fields<TimelineRow> fields{
      {"problem", "problem", Look{.least = 14, .once = true},
       [](const TimelineRow& row) { return describe(row.problem); }},
      {"kind", "kind",
       [](const TimelineRow& row) { return std::string(row.is_range ? "range" : "kernel"); }},
      {"instances", "n", of_item<&Item::instances>},
      {"total_us", "total us", Look{.decimals = 1, .leaves = 4}, of_item<&Item::total_us>},
      {"mean_us", "mean", Look{.decimals = 1, .leaves = 3}, of_item<&Item::mean_us>},
      {"median_us", "median", Look{.decimals = 1}, of_item<&Item::median_us>},
      {"least_us", "least", Look{.decimals = 1, .leaves = 2}, of_item<&Item::least_us>},
      {"greatest_us", "greatest", Look{.decimals = 1, .leaves = 1}, of_item<&Item::greatest_us>},
      {"name", "name", kWraps, of_item<&Item::name>},
      {"report", "report", kProgramsOnly, &TimelineRow::report},
  };
  return fields;
}

Document timeline_document(const TimelineReport& report) {
  const auto records = [&] { return table_of(timeline_fields(), report.rows); };
  const auto for_people = [&report, records] {
    return Blocks{block::Rows{records()}, block::Text{incomplete_text(report.coverage)}};
  };
  const auto object = [&] {
    Json json = json_head("timeline");
    json["complete"] = report.coverage.complete;
    json["rows"] = json_rows(timeline_fields(), report.rows);
    return json;
  };
  return {for_people, records, object};
}

}  // namespace fatune
