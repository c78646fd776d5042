#pragma once

#include <string>
#include <string_view>

#include "core/outcome.hpp"

namespace fatune {

/// The outcome of which outcome_name() is `name` and outcome_summary() is `summary`, of one that
/// nobody ranks. What a summary does not say stays as it is by default. Error(bad_file) when there
/// is no such outcome.
[[nodiscard]] Outcome read_failure(std::string_view name, const std::string& summary);

}  // namespace fatune
