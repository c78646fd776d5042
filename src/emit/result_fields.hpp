#pragma once

#include <vector>

#include "emit/document/document.hpp"
#include "emit/document/table.hpp"
#include "report/report.hpp"

namespace fatune {

/// A row of results: one configuration on one problem.
struct ResultRow {
  const RunReport* run;
  const ProblemReport* problem;
  const Result* result;
};

/// The columns of a sweep's or run's results, in the order in which they are printed.
[[nodiscard]] Fields<ResultRow> result_fields();
/// The problem's own columns: in CSV they stand before the result's, in JSON once per problem.
[[nodiscard]] Fields<ResultRow> problem_fields();
/// The run's own columns: in CSV, which may have several runs, they stand after the result's, in
/// JSON once per run.
[[nodiscard]] Fields<ResultRow> run_fields();

/// The name of the result field that only reports of several families show to people.
inline constexpr std::string_view kFamilyField = "family";

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
