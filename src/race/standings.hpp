#pragma once

#include <vector>

#include "core/candidate_list.hpp"
#include "race/race_policy.hpp"
#include "race/race_result.hpp"
#include "race/raced_candidate.hpp"

namespace fatune {

/// Makes the results, in the order of `candidates`, with their places. Finalists come first, by the
/// median of their finals; those eliminated in the finals come after the others. The other
/// contenders follow, then the other eliminated candidates, each by the median of the race. A
/// candidate belongs to the tie group before it unless the interval of its paired ratios to the
/// fastest of that group lies above 1. If there are too few pairs for an interval, it belongs
/// unless their medians differ by more than the admission margin. An eliminated candidate is never
/// tied with one that is not.
[[nodiscard]] std::vector<Standing> make_standings(const CandidateList<RacedCandidate>& candidates,
                                                   const RacePolicy& policy,
                                                   StopReason stopped_because);

}  // namespace fatune
