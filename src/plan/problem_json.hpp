#pragma once

#include "attention/problem_details.hpp"
#include "data/json_file.hpp"

namespace fatune {

/// The details of a problem that a JSON object has: what is absent or null is as usual.
/// Error(usage) as set_detail().
[[nodiscard]] DetailValues read_details(const JsonNode& node);

/// The problem that an object of an output is. Older files have the first six properties alone.
/// Error(usage) as set_detail().
[[nodiscard]] Problem read_problem(const JsonNode& node);

}  // namespace fatune
