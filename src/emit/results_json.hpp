#pragma once

#include "emit/json_text.hpp"
#include "report/report.hpp"

namespace fatune {

[[nodiscard]] Json results_object(const RunReport& report);
[[nodiscard]] Json best_configs_object(const RunReport& report);
/// The results of several reports in one document (configs/schema/runs.schema.json).
[[nodiscard]] std::string runs_json(const std::vector<RunReport>& reports);

}  // namespace fatune
