#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "inspect/counters/counter_fields.hpp"
#include "inspect/counters/profiler_tables.hpp"
#include "model/outcome.hpp"
#include "model/problem.hpp"
#include "model/report.hpp"
#include "print/document/document.hpp"
#include "print/document/table.hpp"

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

[[nodiscard]] Fields<TimelineRow> timeline_fields();

/// The rows in their order. JSON follows configs/schema/timeline.schema.json.
[[nodiscard]] Document timeline_document(const TimelineReport& report);

/// One configuration on one problem, with the averages of its counters.
struct ProfiledConfig {
  std::optional<Problem> problem;  ///< absent: a report made elsewhere does not say
  std::string config;              ///< short form
  std::string kernel_name;  ///< the name that profilers print; empty: the family has no such form
  OutcomeKind outcome = OutcomeKind::stopped;
  std::string detail;     ///< what went wrong; empty: nothing
  std::int64_t runs = 0;  ///< launches that were counted
  std::optional<double> duration_us;
  std::optional<double> relative_percent;  ///< 100 * the baseline's duration / this one's
  std::optional<double> total_flop;        ///< the family's own count
  std::optional<double> sweep_us;          ///< the median that a stored run measured
  std::vector<std::pair<std::string, double>> counters;  ///< figures by name
};

struct ProfileReport {
  std::string device;
  std::string family;
  std::string read_by;  ///< "ncu 2025.3.1.0", "cupti"
  std::string source;   ///< "run 12", "space tune"; empty: configurations were named
  Coverage coverage;    ///< counts each configuration once for each problem
  std::vector<CounterField> fields;
  std::vector<ProfiledConfig> rows;
};

/// JSON (configs/schema/profile.schema.json) and CSV have every figure. Tables and Markdown have a
/// row for each configuration. If there are too many figures for a row, it has the first of them,
/// and a second table for each problem has a row for each figure.
[[nodiscard]] Document profile_document(const ProfileReport& report);

/// The fields of a profiled configuration, without its counters.
[[nodiscard]] Fields<ProfiledConfig> profiled_config_fields();

}  // namespace fatune
