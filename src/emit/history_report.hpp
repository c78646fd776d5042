#pragma once

#include <vector>

#include "emit/document/document.hpp"
#include "report/run_summary.hpp"

namespace fatune {

/// A list of stored runs. JSON: configs/schema/history.schema.json.
[[nodiscard]] Document history_document(const std::vector<RunSummary>& runs);

/// The columns of the list of runs.
[[nodiscard]] const Fields<RunSummary>& history_fields();

}  // namespace fatune
