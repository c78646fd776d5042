#pragma once

#include <string>
#include <vector>

#include "emit/document/json_text.hpp"
#include "emit/result_fields.hpp"
#include "report/report.hpp"

namespace fatune {

/// The report of one run (schema: results) or of several runs (schema: runs) as JSON: all members
/// of the report, so that it can be read back (results/results_file.hpp), and what follows from
/// them.
[[nodiscard]] Json results_object(const RunReport& report);
[[nodiscard]] Json runs_object(const std::vector<RunReport>& reports);

/// The fields of a result that are not among its members, or not with every outcome. JSON has them
/// for every result.
[[nodiscard]] const Fields<ResultRow>& derived_result_fields();

struct ProblemOfRun {
  const RunReport& run;
  const ProblemReport& problem;
};

}  // namespace fatune
