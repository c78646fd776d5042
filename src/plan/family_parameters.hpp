#pragma once

#include <vector>

#include "data/json_file.hpp"
#include "plan/family.hpp"
#include "plan/parameter.hpp"

namespace fatune {

// The parts of family.json that say what a configuration is and how it is written. Each throws
// Error(bad_file) naming the JSON pointer of what is wrong.

/// Reads "/parameters".
[[nodiscard]] std::vector<Parameter> read_parameters(const JsonNode& list);
/// Reads "/short_form". Every parameter must be in exactly one place, and the form unambiguous.
[[nodiscard]] ShortForm read_short_form(const JsonNode& form,
                                        const std::vector<Parameter>& parameters);

}  // namespace fatune
