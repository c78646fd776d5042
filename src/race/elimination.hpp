#pragma once

#include <vector>

#include "race/race_state.hpp"
#include "race/round.hpp"

namespace fatune {

/// Bets on each admission sample against the fastest one. False: there is none, or no bet is taken
/// any more.
bool compare_admissions(RaceState& state);

/// Bets on each sample of the round against the leader's. `off`: the round's sentinel was off.
void place_bets(const Round& round, bool off, RaceState& state);

/// Eliminates the contenders whose evidence suffices, and returns them. `round`: which one this is
/// said to be in, those of the finals counted on.
std::vector<CandidateId> eliminate(int round, RaceState& state);

/// Chooses the fastest contender, or finalist in the finals.
void choose_leader(RaceState& state);

/// Forgets the evidence against those that lost to the withdrawn candidate. Returns whether one of
/// them had been eliminated.
bool reinstate_opponents_of(CandidateId withdrawn, RaceState& state);

}  // namespace fatune
