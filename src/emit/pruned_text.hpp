#pragma once

#include <string>

#include "report/report.hpp"

namespace fatune {

/// The configurations that the space's rules dropped because of this problem: a line for each rule
/// with its count, its first configuration and the reason for it. Empty if nothing was dropped.
[[nodiscard]] std::string pruned_text(const ProblemReport& problem);

}  // namespace fatune
