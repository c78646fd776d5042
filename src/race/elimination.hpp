#pragma once

#include <vector>

#include "race/race_state.hpp"
#include "race/round.hpp"

namespace fatune {

/// Bets on each admission sample against the fastest one. Returns false if there is no admission
/// sample, if the strategy is exhaustive or if the race is past its racing phase.
bool compare_admissions(RaceState& state);

/// Bets on each sample of the round against the leader's. `off`: whether the round's sentinel was
/// off.
void place_bets(const Round& round, bool off, RaceState& state);

/// Eliminates the contenders whose evidence suffices, and returns them. `round`: the number to
/// record as the round of elimination; rounds of the finals continue the count of the race.
std::vector<CandidateId> eliminate(int round, RaceState& state);

/// Chooses the fastest contender as the leader; in the finals, the fastest finalist.
void choose_leader(RaceState& state);

/// Discards the evidence against candidates that lost to the withdrawn one, and takes back their
/// elimination. Returns whether one of them had been eliminated.
bool reinstate_opponents_of(CandidateId withdrawn, RaceState& state);

}  // namespace fatune
