#pragma once

#include <vector>

#include "emit/document/field.hpp"
#include "emit/profile_report.hpp"

namespace fatune {

/// The fields of a profiled configuration, without its counters.
[[nodiscard]] const Fields<ProfiledConfig>& profiled_config_fields();

}  // namespace fatune
