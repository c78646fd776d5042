#pragma once

#include <string>
#include <vector>

#include "core/output_format.hpp"
#include "core/run_summary.hpp"
#include "emit/field.hpp"

namespace fatune {

/// A list of stored runs; ends with a line break. JSON: configs/schema/history.schema.json.
[[nodiscard]] std::string print_history(const std::vector<RunSummary>& runs, OutputFormat format);

/// One column of that list.
[[nodiscard]] const std::vector<Field<RunSummary>>& history_fields();

}  // namespace fatune
