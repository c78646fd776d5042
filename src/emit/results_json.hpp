#pragma once

#include "emit/document/property.hpp"
#include "report/report.hpp"

namespace fatune {

/// The report of one run (schema: results) or of several runs (schema: runs) as JSON.
[[nodiscard]] Json results_object(const RunReport& report);
[[nodiscard]] Json runs_object(const std::vector<RunReport>& reports);

struct ProblemOfRun {
  const RunReport& run;
  const ProblemReport& problem;
};

/// The JSON properties of these objects. Those of a run are the first members of its documents.
[[nodiscard]] const Properties<RunReport>& header_properties();
[[nodiscard]] const Properties<MeasurePolicy>& policy_properties();
[[nodiscard]] const Properties<ProblemOfRun>& problem_report_properties();
[[nodiscard]] const Properties<MeasuringSummary>& measuring_properties();
[[nodiscard]] const Properties<GpuConditions>& conditions_properties();
[[nodiscard]] const Properties<GpuReading>& reading_properties();
[[nodiscard]] const Properties<RuleAudit>& rule_audit_properties();
[[nodiscard]] const Properties<Measured>& measured_properties();  ///< those without a column
[[nodiscard]] const Properties<Verification>& verification_properties();
[[nodiscard]] const Properties<ErrorStats>& error_stats_properties();

}  // namespace fatune
