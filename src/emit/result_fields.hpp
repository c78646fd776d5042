#pragma once

#include <vector>

#include "emit/document/field.hpp"
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

}  // namespace fatune
