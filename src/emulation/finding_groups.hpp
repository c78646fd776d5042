#pragma once

#include <string>
#include <vector>

#include "report/emulation.hpp"

namespace fatune {

/// Groups the findings, sets the group number of each, and returns the groups. Races are in one
/// group if the call chains of their two accesses diverge at the same two lines, wherever these
/// lines are called from. An uninitialised read belongs to the group of the race at the same
/// instruction. A copy that was not waited for belongs to the group of the race with that copy.
/// Other findings are in one group if they have the same kind and place in the source.
[[nodiscard]] std::vector<FindingGroup> group_findings(std::vector<EmulatedFinding>& findings);

/// Describes the first finding with its place (for a race, both places), and says how many more
/// there are. Precondition: there is at least one finding.
[[nodiscard]] std::string findings_summary(const std::vector<EmulatedFinding>& findings,
                                           const std::vector<FindingGroup>& groups);

}  // namespace fatune
