#pragma once

#include <vector>

#include "race/race_state.hpp"

namespace fatune {

/// The budget of the phase is used up.
[[nodiscard]] bool over_budget(const RaceState& state);

/// So few that all can be in the finals.
[[nodiscard]] bool fit_into_finals(const RaceState& state, const std::vector<CandidateId>& ids);

/// Has too few samples to be in the finals.
[[nodiscard]] bool is_needy(const RaceState& state, CandidateId id);

/// Has all samples of an exhaustive run.
[[nodiscard]] bool has_repeats(const RaceState& state, CandidateId id);

/// Why the race may end, if no other candidate joins.
[[nodiscard]] StopReason end_of_race(const RaceState& state);

/// Why the finals may end.
[[nodiscard]] StopReason end_of_finals(const RaceState& state);

}  // namespace fatune
