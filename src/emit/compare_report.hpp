#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "emit/document/document.hpp"
#include "emit/document/table.hpp"
#include "study/comparison.hpp"

namespace fatune {

/// A run, an earlier one, and how they differ.
struct CompareReport {
  ComparedRun old_run;
  ComparedRun new_run;
  RunComparison comparison;
  std::size_t most_rows = 0;  ///< limit of configurations shown to people; 0: all
};

/// JSON: configs/schema/compare.schema.json.
[[nodiscard]] Document compare_document(const CompareReport& report);

struct RunRow {
  std::string_view side;  ///< "OLD", "NEW"
  const ComparedRun* run;
};

[[nodiscard]] Fields<ComparedProblem> compared_problem_fields();
[[nodiscard]] Fields<RunRow> compared_run_fields();

/// JUnit XML of the comparison: verdicts_junit(). A problem that NEW lacks is a suite with one
/// skipped test case.
[[nodiscard]] std::string compare_junit(const CompareReport& report);

}  // namespace fatune
