#pragma once

#include "emit/document/table.hpp"
#include "emit/plots/study_report.hpp"
#include "study/study_rows.hpp"

namespace fatune {

/// A row for each of `rows`, in their order: where it was measured, its parameters, its result
/// fields for people. Plots' marks refer to these rows by number.
[[nodiscard]] Table configuration_table(const StudyReport& report, const StudyRows& rows);

}  // namespace fatune
