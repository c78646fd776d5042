#pragma once

#include <string>

#include "emit/coverage.hpp"

namespace fatune {

/// The text in tables and Markdown about an interrupted list; empty when it was not interrupted.
/// JSON says "complete".
[[nodiscard]] std::string incomplete_text(const Coverage& coverage);

}  // namespace fatune
