#pragma once

#include <string>
#include <string_view>

#include "core/outcome.hpp"

namespace fatune {

/// Reads back an outcome that is not ranked from its outcome_name() and outcome_summary(). Members
/// that a summary does not mention keep their defaults. Throws Error(bad_file) if there is no such
/// outcome.
[[nodiscard]] Outcome read_failure(std::string_view name, const std::string& summary);

}  // namespace fatune
