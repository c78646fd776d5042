#pragma once

#include <string>

#include "emit/coverage.hpp"

namespace fatune {

/// What tables and Markdown say of a list that was interrupted; empty when it was not. JSON says
/// "complete".
[[nodiscard]] std::string incomplete_text(const Coverage& coverage);

}  // namespace fatune
