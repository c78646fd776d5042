#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "emit/document/document.hpp"
#include "emit/document/field.hpp"
#include "emit/document/property.hpp"
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

struct ConfigRow {
  const RunComparison* comparison;
  const ComparedConfig* config;
};
struct RunRow {
  std::string_view side;  ///< "OLD", "NEW"
  const ComparedRun* run;
};

[[nodiscard]] const std::vector<Field<ConfigRow>>& compared_config_fields();
[[nodiscard]] const std::vector<Field<ComparedProblem>>& compared_problem_fields();
[[nodiscard]] const std::vector<Field<RunRow>>& compared_run_fields();
/// The other members of the JSON document.
[[nodiscard]] const Properties<CompareReport>& compare_properties();

/// The enumerator's own name, which every output uses.
[[nodiscard]] std::string_view change_name(Change change);
/// Why the configuration failed or is undecided; empty: neither.
[[nodiscard]] std::string detail_of(const ComparedConfig& config);
/// "b16 s4096 h16 d128 FP16", and the number of a repetition after the first.
[[nodiscard]] std::string describe(const ComparedProblem& problem);

}  // namespace fatune
