#pragma once

#include <vector>

#include "model/emulation.hpp"
#include "print/document/document.hpp"
#include "print/document/table.hpp"

namespace fatune {

/// A list of stored runs. JSON: configs/schema/history.schema.json.
[[nodiscard]] Document history_document(const std::vector<RunSummary>& runs);

/// The columns of the list of runs.
[[nodiscard]] Fields<RunSummary> history_fields();

}  // namespace fatune
