#pragma once

#include <string>
#include <vector>

#include "report/emulation.hpp"

namespace fatune {

/// Numbers the findings' groups, and says what each is. Races are of one group when the paths to
/// their two accesses diverge at the same two lines, whatever these are called from. An
/// uninitialised read belongs to the race of the same instruction, a copy that was not waited for
/// to the race with it. Other findings are of one group when they are of one kind and at one place
/// of the source.
[[nodiscard]] std::vector<FindingGroup> group_findings(std::vector<EmulatedFinding>& findings);

/// The first finding with its place, of a race both, and how many more there are. Precondition:
/// there is one.
[[nodiscard]] std::string findings_summary(const std::vector<EmulatedFinding>& findings,
                                           const std::vector<FindingGroup>& groups);

}  // namespace fatune
