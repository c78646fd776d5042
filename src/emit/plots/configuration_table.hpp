#pragma once

#include "emit/document/table.hpp"
#include "emit/plots/study_report.hpp"
#include "study/study_rows.hpp"

namespace fatune {

/// A table with a row for each of `rows`, in their order: run and problem, result fields, and
/// parameters. Marks of plots refer to these rows by number.
[[nodiscard]] Table configuration_table(const StudyReport& report, const StudyRows& rows);

}  // namespace fatune
