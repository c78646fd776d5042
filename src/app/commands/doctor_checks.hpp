#pragma once

#include <vector>

#include "app/option_groups.hpp"
#include "emit/doctor_report.hpp"

namespace fatune {

/// What fatune needs of this machine, a check or several for each subject. Broken: no command can
/// do its job; limited: measuring, or something smaller, is not available.
[[nodiscard]] std::vector<Check> run_checks(const CompileSettings& settings);

}  // namespace fatune
