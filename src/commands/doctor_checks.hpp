#pragma once

#include <vector>

#include "app/option_groups.hpp"
#include "emit/doctor_report.hpp"

namespace fatune {

/// Checks what fatune needs of this machine, with one or more checks for each subject. `broken`: no
/// command can do its job. `limited`: measuring, or something smaller, is not available.
[[nodiscard]] std::vector<Check> run_checks(const CompileSettings& settings);

}  // namespace fatune
