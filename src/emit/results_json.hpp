#pragma once

#include "emit/document/property.hpp"
#include "report/report.hpp"

namespace fatune {

/// One run's report as JSON (schema: results), and several runs' (schema: runs).
[[nodiscard]] Json results_object(const RunReport& report);
[[nodiscard]] Json runs_object(const std::vector<RunReport>& reports);

struct ProblemOfRun {
  const RunReport& run;
  const ProblemReport& problem;
};

/// What these objects have in JSON. Of a run: what its documents begin with.
[[nodiscard]] const Properties<RunReport>& header_properties();
[[nodiscard]] const Properties<MeasurePolicy>& policy_properties();
[[nodiscard]] const Properties<ProblemOfRun>& problem_report_properties();
[[nodiscard]] const Properties<MeasuringSummary>& measuring_properties();
[[nodiscard]] const Properties<GpuConditions>& conditions_properties();
[[nodiscard]] const Properties<GpuReading>& reading_properties();
[[nodiscard]] const Properties<RuleAudit>& rule_audit_properties();
[[nodiscard]] const Properties<Measured>& measured_properties();  ///< beyond its columns
[[nodiscard]] const Properties<Verification>& verification_properties();
[[nodiscard]] const Properties<ErrorStats>& error_stats_properties();

}  // namespace fatune
