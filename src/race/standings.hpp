#pragma once

#include <vector>

#include "core/candidate_list.hpp"
#include "race/race_policy.hpp"
#include "race/race_result.hpp"
#include "race/raced_candidate.hpp"

namespace fatune {

/// Results in the order of `candidates`, with their places. Finalists come first, by the median of
/// their finals, those eliminated there after the others; then the other contenders, then those
/// eliminated, each by the median of the race. A candidate belongs to the tie group of the fastest
/// before it unless the interval of their paired ratios lies above 1, or, where there are too few
/// pairs for one, their medians differ by more than the admission margin; an eliminated one is
/// never tied with one that is not.
[[nodiscard]] std::vector<Standing> make_standings(const CandidateList<RacedCandidate>& candidates,
                                                   const RacePolicy& policy,
                                                   StopReason stopped_because);

}  // namespace fatune
