#pragma once

#include <vector>

#include "core/device_limits.hpp"
#include "emit/document/field.hpp"

namespace fatune {

/// The fields of a GPU's limits, which `devices` lists and results record.
[[nodiscard]] const Fields<DeviceLimits>& device_fields();

}  // namespace fatune
