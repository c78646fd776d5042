#pragma once

#include "attention/problem_details.hpp"
#include "data/json_file.hpp"

namespace fatune {

/// The details of a problem that a JSON object has: what is absent or null is as usual.
/// Error(usage) as set_detail().
[[nodiscard]] DetailValues read_details(const JsonNode& node);

}  // namespace fatune
