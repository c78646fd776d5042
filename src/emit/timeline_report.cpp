#include "emit/timeline_report.hpp"

#include "emit/coverage.hpp"

namespace fatune {
namespace {

template <auto kMember>
const auto of_item = [](const TimelineRow& row) { return row.item.*kMember; };

}  // namespace

const std::vector<Field<TimelineRow>>& timeline_fields() {
  using Item = TimelineItem;
  static const std::vector<Field<TimelineRow>> fields{
      {"problem", "problem", "the problem: batch, length, heads, head dimension and type", 0,
       kEverywhere, [](const TimelineRow& row) { return describe(row.problem); },
       ColumnFit{.least = 14, .once = true}},
      {"kind", "kind", "kernel: a kernel on the GPU; range: an NVTX range on the host", 0,
       kEverywhere,
       [](const TimelineRow& row) { return std::string(row.is_range ? "range" : "kernel"); }},
      {"instances", "n", "how often the kernel or range ran", 0, kEverywhere,
       of_item<&Item::instances>},
      {"total_us", "total us", "total time of all instances in microseconds", 1, kEverywhere,
       of_item<&Item::total_us>, ColumnFit{.leaves = 4}},
      {"mean_us", "mean", "mean time of an instance in microseconds", 1, kEverywhere,
       of_item<&Item::mean_us>, ColumnFit{.leaves = 3}},
      {"median_us", "median", "median time of an instance in microseconds", 1, kEverywhere,
       of_item<&Item::median_us>},
      {"least_us", "least", "time of the shortest instance in microseconds", 1, kEverywhere,
       of_item<&Item::least_us>, ColumnFit{.leaves = 2}},
      {"greatest_us", "greatest", "time of the longest instance in microseconds", 1, kEverywhere,
       of_item<&Item::greatest_us>, ColumnFit{.leaves = 1}},
      {"name", "name", "name of the kernel or range", 0, kEverywhere, of_item<&Item::name>, kWraps},
      {"report", "report", "file of the timeline, for Nsight Systems", 0, kForPrograms,
       member<&TimelineRow::report>},
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
