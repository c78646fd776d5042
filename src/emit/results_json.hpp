#pragma once

#include "core/report.hpp"
#include "emit/json_text.hpp"

namespace fatune {

[[nodiscard]] Json results_object(const RunReport& report);
[[nodiscard]] Json best_configs_object(const RunReport& report);

}  // namespace fatune
