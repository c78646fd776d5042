#pragma once

#include <vector>

#include "race/race_state.hpp"

namespace fatune {

/// Whether the budget of the phase is used up.
[[nodiscard]] bool over_budget(const RaceState& state);

/// How many there is room for in the finals.
[[nodiscard]] std::size_t most_finalists(const RaceState& state);
/// Whether there is room for all of them.
[[nodiscard]] bool fit_into_finals(const RaceState& state, const std::vector<CandidateId>& ids);

/// Whether the candidate has too few samples to be in the finals.
[[nodiscard]] bool is_needy(const RaceState& state, CandidateId id);

/// Whether the candidate has all samples of an exhaustive run.
[[nodiscard]] bool has_repeats(const RaceState& state, CandidateId id);

/// The reason for which the race may end, if no other candidate joins; not_yet: there is none.
[[nodiscard]] StopReason end_of_race(const RaceState& state);

/// Whether the race has been on the part of the problem for long enough, if no other candidate
/// joins. Precondition: it is there.
[[nodiscard]] bool can_leave_part(const RaceState& state);

/// Whether no round of the finals has been on the whole problem, so that the race must not end.
[[nodiscard]] bool owes_whole_round(const RaceState& state);

/// The reason for which the finals may end; not_yet: there is none.
[[nodiscard]] StopReason end_of_finals(const RaceState& state);

}  // namespace fatune
