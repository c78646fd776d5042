#pragma once

#include "app/run/session.hpp"
#include "core/output_format.hpp"

namespace fatune {

/// Checks a view before anything is measured. Throws Error(usage) for a column that the run's
/// records will not have, and for an expression that does not parse.
void check_view(const TableView& view, const PlannedRun& run);

}  // namespace fatune
