#pragma once

#include <vector>

#include "emit/document/field.hpp"
#include "report/report.hpp"

namespace fatune {

/// One configuration on one problem, as rows of results print it.
struct EntryRow {
  const RunReport* run;
  const ProblemReport* problem;
  const Entry* entry;
};

/// Every column of a sweep's or run's results, in the order in which they are printed.
[[nodiscard]] const std::vector<Field<EntryRow>>& entry_fields();
/// The problem's own columns: in CSV they stand before the entry's, in JSON once per problem.
[[nodiscard]] const std::vector<Field<EntryRow>>& problem_fields();
/// The run's own, of which a CSV may have several: behind the entry's. JSON has them once per run.
[[nodiscard]] const std::vector<Field<EntryRow>>& run_fields();

/// Name of the entry field that only reports of several families show to people.
inline constexpr std::string_view kFamilyField = "family";

}  // namespace fatune
