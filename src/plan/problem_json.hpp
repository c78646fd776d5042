#pragma once

#include "base/json_file.hpp"
#include "model/problem.hpp"

namespace fatune {

/// Reads the details of a problem that a JSON object has. Absent or null details are left out,
/// which means their usual values. Throws Error(usage) as set_detail() does.
[[nodiscard]] DetailValues read_details(const JsonNode& node);

/// Reads a problem from an object of an output. Older files have only the first six properties.
/// Throws Error(usage) as set_detail() does.
[[nodiscard]] Problem read_problem(const JsonNode& node);

}  // namespace fatune
