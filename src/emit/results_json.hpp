#pragma once

#include "emit/document/document.hpp"
#include "report/report.hpp"

namespace fatune {

[[nodiscard]] Json results_object(const RunReport& report);
/// The results of several reports in one document (configs/schema/runs.schema.json).
[[nodiscard]] Json runs_object(const std::vector<RunReport>& reports);

}  // namespace fatune
