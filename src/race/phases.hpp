#pragma once

#include <vector>

#include "race/race_state.hpp"

namespace fatune {

/// Goes over from the part to the whole problem and to the finals when the race can end there, and
/// ends the finals when those can.
void advance(RaceState& state);

/// The samples so far are of the part of the problem: they make way for those of the whole.
void shelve_part_samples(CandidateList<RacedCandidate>& candidates);

/// The finals begin anew from the race: a candidate that they counted on was withdrawn.
void back_to_racing(RaceState& state);

/// The candidates whose samples the next round is to take; none: others may still join, or the race
/// is over.
[[nodiscard]] std::vector<CandidateId> next_members(const RaceState& state);

/// Whether a sample of the candidate is kept. The sentinel may be in a round without that.
[[nodiscard]] bool collects(const RaceState& state, CandidateId id);

/// Whether the time is used up, so that the round under way need not be finished.
[[nodiscard]] bool may_abandon_round(const RaceState& state);

}  // namespace fatune
