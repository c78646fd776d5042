#pragma once

#include <vector>

#include "core/device_limits.hpp"
#include "emit/document/field.hpp"

namespace fatune {

/// A GPU's limits, as `devices` lists them and as results record them.
[[nodiscard]] const std::vector<Field<DeviceLimits>>& device_fields();

}  // namespace fatune
