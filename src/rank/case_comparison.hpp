#pragma once

#include <vector>

#include "report/cases.hpp"

namespace fatune {

/// Fills in what results say of each other: how much faster each is than the first variant on the
/// same problem, and at how many times the rate of its variant's first problem it computes (FLOP by
/// the literature's convention). Nothing where one of both has no time.
void compare_cases(std::vector<CaseResult>& results);

}  // namespace fatune
