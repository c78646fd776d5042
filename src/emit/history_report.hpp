#pragma once

#include <string>
#include <vector>

#include "emit/field.hpp"
#include "emit/page.hpp"
#include "report/run_summary.hpp"

namespace fatune {

/// A list of stored runs; ends with a line break. JSON: configs/schema/history.schema.json.
[[nodiscard]] std::string print_history(const std::vector<RunSummary>& runs, const Page& page);

/// One column of that list.
[[nodiscard]] const std::vector<Field<RunSummary>>& history_fields();

}  // namespace fatune
