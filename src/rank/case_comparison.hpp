#pragma once

#include <vector>

#include "report/emulation.hpp"

namespace fatune {

/// Fills in speed_up, compared with the first variant on the same problem, and scaling, the rate
/// divided by that of the same variant on its first problem (FLOP by the literature's convention).
/// They stay empty if one of the two results has no time.
void compare_cases(std::vector<CaseResult>& results);

}  // namespace fatune
