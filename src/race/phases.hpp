#pragma once

#include <vector>

#include "race/race_state.hpp"

namespace fatune {

/// Moves the race to its next phase if the current one can end: from the part to the whole problem,
/// from there to the finals, and from the finals to the end.
void advance(RaceState& state);

/// Moves the samples taken so far, which are of the part of the problem, to RacedCandidate::part.
/// Later samples are of the whole problem.
void shelve_part_samples(CandidateList<RacedCandidate>& candidates);

/// Discards the finals and returns to the race, because a candidate that the finals relied on was
/// withdrawn.
void back_to_racing(RaceState& state);

/// The candidates to sample in the next round. Empty: others may still join, or the race is over.
[[nodiscard]] std::vector<CandidateId> next_members(const RaceState& state);

/// Whether a sample of the candidate is kept. The sentinel also takes part in rounds that do not
/// keep its sample.
[[nodiscard]] bool collects(const RaceState& state, CandidateId id);

/// Whether the budget is used up and the round under way need not be finished.
[[nodiscard]] bool may_abandon_round(const RaceState& state);

}  // namespace fatune
