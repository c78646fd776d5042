#pragma once

#include "data/json_file.hpp"

namespace fatune {

/// Reads the time of a kernel, in the file's unit. Error(bad_file), with the node's place, if it is
/// none (core/kernel_time.hpp).
[[nodiscard]] double read_kernel_time(const JsonNode& node, double us_per_unit = 1.0);

/// Reads how long something else took, such as compiling: likewise, but 0 is allowed.
[[nodiscard]] double read_duration(const JsonNode& node, double us_per_unit);

}  // namespace fatune
