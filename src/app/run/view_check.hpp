#pragma once

#include "app/run/session.hpp"
#include "core/table_view.hpp"

namespace fatune {

/// Error(usage) before anything is measured for what Error(usage) would come of afterwards: a
/// column that the run's records will not have, an expression that cannot be read.
void check_view(const TableView& view, const PlannedRun& run);

}  // namespace fatune
