#pragma once

#include <vector>

#include "emit/field.hpp"
#include "emit/profile_report.hpp"

namespace fatune {

/// What there is of a profiled configuration beside its counters.
[[nodiscard]] const std::vector<Field<ProfiledConfig>>& profiled_config_fields();

}  // namespace fatune
