#include "emit/timeline_report.hpp"

#include "emit/coverage_text.hpp"
#include "emit/print_rows.hpp"

namespace fatune {
namespace {

template <auto kMember>
FieldValue of_item(const TimelineRow& row) {
  return FieldValue{row.item.*kMember};
}

}  // namespace

const std::vector<Field<TimelineRow>>& timeline_fields() {
  using Item = TimelineItem;
  static const std::vector<Field<TimelineRow>> fields{
      {"problem", "problem", "batch, length, heads, head dimension, type", 0, Shown::everywhere,
       [](const TimelineRow& row) { return FieldValue{describe(row.problem)}; },
       ColumnFit{.least = 14, .once = true}},
      {"kind", "kind", "kernel: on the GPU; range: of NVTX, on the host", 0, Shown::everywhere,
       [](const TimelineRow& row) {
         return FieldValue{std::string(row.is_range ? "range" : "kernel")};
       }},
      {"instances", "n", "how often it ran", 0, Shown::everywhere, of_item<&Item::instances>},
      {"total_us", "total us", "time of all together, in microseconds", 1, Shown::everywhere,
       of_item<&Item::total_us>, ColumnFit{.leaves = 4}},
      {"mean_us", "mean", "average, in microseconds", 1, Shown::everywhere, of_item<&Item::mean_us>,
       ColumnFit{.leaves = 3}},
      {"median_us", "median", "median, in microseconds", 1, Shown::everywhere,
       of_item<&Item::median_us>},
      {"least_us", "least", "shortest, in microseconds", 1, Shown::everywhere,
       of_item<&Item::least_us>, ColumnFit{.leaves = 2}},
      {"greatest_us", "greatest", "longest, in microseconds", 1, Shown::everywhere,
       of_item<&Item::greatest_us>, ColumnFit{.leaves = 1}},
      {"name", "name", "the kernel's or the range's", 0, Shown::everywhere, of_item<&Item::name>,
       kWraps},
      {"report", "report", "file of the timeline, for Nsight Systems", 0, Shown::for_programs,
       [](const TimelineRow& row) { return FieldValue{row.report}; }},
  };
  return fields;
}

std::string print_timeline(const TimelineReport& report, const Page& page) {
  if (page.format != OutputFormat::json) {
    return print_rows(timeline_fields(), report.rows, page) +
           (page.format == OutputFormat::csv ? "" : incomplete_text(report.coverage));
  }
  Json json = {{"format", "fatune.timeline"}, {"format_version", 1}};
  json["complete"] = report.coverage.complete;
  json["rows"] = json_rows(timeline_fields(), report.rows);
  return json_text(json);
}

}  // namespace fatune
