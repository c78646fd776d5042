#pragma once

#include <string>

#include "report/report.hpp"

namespace fatune {

/// The configurations that the space's rules dropped because of this problem: a line for each rule
/// with its count and the reason for the first. Empty when they dropped nothing.
[[nodiscard]] std::string pruned_text(const ProblemReport& problem);

}  // namespace fatune
