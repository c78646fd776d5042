#pragma once

#include <vector>

#include "race/race_state.hpp"

namespace fatune {

/// Whether the budget of the phase is used up.
[[nodiscard]] bool over_budget(const RaceState& state);

/// The number of candidates that the finals have room for.
[[nodiscard]] std::size_t most_finalists(const RaceState& state);
/// Whether the finals have room for all of these candidates.
[[nodiscard]] bool fit_into_finals(const RaceState& state, const std::vector<CandidateId>& ids);

/// Whether the candidate has too few samples to be in the finals.
[[nodiscard]] bool is_needy(const RaceState& state, CandidateId id);

/// Whether the candidate has all samples of an exhaustive run.
[[nodiscard]] bool has_repeats(const RaceState& state, CandidateId id);

/// The reason for which the race may end if no other candidate joins; not_yet: there is none.
[[nodiscard]] StopReason end_of_race(const RaceState& state);

/// Whether the race has been on the part of the problem for long enough, if no other candidate
/// joins. Precondition: the race is on the part.
[[nodiscard]] bool can_leave_part(const RaceState& state);

/// Whether the race must not end yet, because no round of the finals has been on the whole problem.
[[nodiscard]] bool owes_whole_round(const RaceState& state);

/// The reason for which the finals may end; not_yet: there is none.
[[nodiscard]] StopReason end_of_finals(const RaceState& state);

}  // namespace fatune
