#pragma once

#include "model/report.hpp"
#include "model/workload.hpp"
#include "print/document/document.hpp"

namespace fatune {

/// An entry of a workload, and its share of the time.
struct WorkloadRow {
  WorkloadCall call;
  std::optional<double> time_percent{};  ///< absent: the time of some call is unknown
};

/// The columns that programs see, which are those that read_workload() reads.
[[nodiscard]] Fields<WorkloadRow> workload_fields();

/// The workload, the longest time first, or as it is if some times are unknown. JSON:
/// configs/schema/workload.schema.json.
[[nodiscard]] Document workload_document(const Workload& workload);

/// A problem of a workload that was swept.
struct SweptCall {
  const ProblemReport* problem;
  double total_us = 0.0;      ///< of all its calls with the winner
  double time_percent = 0.0;  ///< of all problems' calls with their winners
};
[[nodiscard]] Fields<SweptCall> swept_call_fields();

/// What the swept workload's calls take with the winners, with few configurations, and took before.
/// Empty: the run swept no workload, or nothing has a time.
[[nodiscard]] Blocks workload_blocks(const RunReport& report);
/// The same as the member `workload` of a summary: null in place of nothing.
[[nodiscard]] Json workload_json(const RunReport& report);

}  // namespace fatune
