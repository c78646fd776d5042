#pragma once

#include <vector>

#include "plan/family_set.hpp"
#include "report/report.hpp"
#include "tuned/tuned_table.hpp"

namespace fatune {

/// Returns the rows of a table as runs, one for each GPU and origin. They have only what the table
/// knows: no samples, no failures, and the name of each origin.
[[nodiscard]] std::vector<RunReport> tuned_runs(const TunedTable& table, const FamilySet& families);

}  // namespace fatune
