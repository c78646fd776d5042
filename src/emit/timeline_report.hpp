#pragma once

#include <string>
#include <vector>

#include "attention/problem.hpp"
#include "counters/nsys_summary.hpp"
#include "emit/coverage.hpp"
#include "emit/document/document.hpp"

namespace fatune {

/// One kernel, or one NVTX range, of a problem's timeline.
struct TimelineRow {
  Problem problem;
  bool is_range = false;
  TimelineItem item;
  std::string report;  ///< the file of the timeline
};

struct TimelineReport {
  std::vector<TimelineRow> rows;
  Coverage coverage;  ///< counts each configuration once for each problem
};

[[nodiscard]] const Fields<TimelineRow>& timeline_fields();

/// The rows in their order. JSON follows configs/schema/timeline.schema.json.
[[nodiscard]] Document timeline_document(const TimelineReport& report);

}  // namespace fatune
