#include "race/race_state.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/ranges.hpp"
#include "race/raced_candidate.hpp"

namespace fatune {
namespace {

// An interval at 95 % needs six samples; finals with fewer say less than the race.
constexpr int kLeastUsefulFinals = 6;

std::vector<CandidateId> in_need_of_samples(const RaceState& state) {
  std::vector<CandidateId> ids = contenders(state);
  if (state.policy.strategy == Strategy::race && fit_into_finals(state, ids)) {
    std::erase_if(ids, [&](CandidateId id) { return id != state.leader && !is_needy(state, id); });
  }
  return ids;
}

/// Whether the candidate can still win. A candidate that has samples on the part alone can: the
/// bets, which allow for the part's margin, have not eliminated it.
bool can_still_win(const RaceState& state, CandidateId id) {
  if (state.candidates.at(id).race.empty()) {
    return true;
  }
  const auto ratio = ratio_interval(state.candidates.at(id), state.candidates.at(*state.leader),
                                    state.policy.confidence);
  return id == state.leader || !ratio || ratio->low <= 1.0 + state.policy.margin;
}

std::vector<CandidateId> choose_finalists(const RaceState& state) {
  std::vector<CandidateId> ids = contenders(state);
  std::erase_if(ids, [&](CandidateId id) {
    return !state.candidates.at(id).kept_in && !can_still_win(state, id);
  });
  const auto key = [&](CandidateId id) {
    const RacedCandidate& candidate = state.candidates.at(id);
    return std::tuple(!candidate.kept_in, candidate.race.empty(), candidate.ranked().median_us());
  };
  std::ranges::stable_sort(ids, [&](CandidateId a, CandidateId b) { return key(a) < key(b); });
  ids.resize(std::min(ids.size(), most_finalists(state)));
  return ids;
}

void begin_finals(StopReason reason, RaceState& state) {
  state.stopped_because = reason;
  const bool has_finals = state.policy.strategy == Strategy::race && !contenders(state).empty();
  state.chosen = has_finals ? choose_finalists(state) : std::vector<CandidateId>{};
  state.phase = has_finals ? RacePhase::finals : RacePhase::done;
}

/// Moves the race to the whole problem. Evidence from the part says nothing about the whole.
void leave_part(RaceState& state) {
  shelve_part_samples(state.candidates);
  for (const CandidateId id : contenders(state)) {
    RacedCandidate& candidate = state.candidates.at(id);
    candidate.evidence = LosingEvidence(state.policy.chances);
    candidate.opponents.clear();
    candidate.kept_throttled = 0;
    candidate.kept_off_rounds = 0;
  }
  state.on_part = false;
}

/// Whether every candidate chosen for the finals has a time on the whole problem without them.
bool can_do_without_finals(const RaceState& state) {
  return std::ranges::none_of(state.chosen,
                              [&](CandidateId id) { return state.candidates.at(id).race.empty(); });
}

void forget_finals(RaceState& state) {
  for (RacedCandidate& candidate : state.candidates) {
    candidate.finals = {};
  }
  state.final_rounds = 0;
}

void finish(StopReason reason, RaceState& state) {
  if (state.stopped_because != StopReason::budget) {
    state.stopped_because = reason;
  }
  state.phase = RacePhase::done;
  if (state.final_rounds < kLeastUsefulFinals && can_do_without_finals(state) &&
      state.final_rounds < state.policy.least_final_rounds) {
    state.warnings.push_back(
        fmt::format("the budget ended after {} rounds of the finals: the contenders' times are "
                    "those of the race",
                    state.final_rounds));
    forget_finals(state);
  }
}

/// Whether the race could go on to its next phase, but others may still join.
bool waits_for_others(const RaceState& state) {
  return state.phase == RacePhase::racing && !state.closed &&
         (state.on_part ? can_leave_part(state) : end_of_race(state) != StopReason::not_yet);
}

}  // namespace

void advance(RaceState& state) {
  if (state.on_part && state.closed && can_leave_part(state)) {
    leave_part(state);
  }
  if (state.phase == RacePhase::racing && !state.on_part && state.closed) {
    const StopReason reason = end_of_race(state);
    if (reason != StopReason::not_yet) {
      begin_finals(reason, state);
    }
  }
  if (state.phase == RacePhase::finals) {
    const StopReason reason = end_of_finals(state);
    if (reason != StopReason::not_yet) {
      finish(reason, state);
    }
  }
}

void shelve_part_samples(CandidateList<RacedCandidate>& candidates) {
  for (RacedCandidate& candidate : candidates) {
    if (candidate.race.empty() && candidate.admission_us) {
      candidate.race.add(0, *candidate.admission_us);
    }
    candidate.part = std::exchange(candidate.race, {});
    candidate.admission_us.reset();
  }
}

void back_to_racing(RaceState& state) {
  forget_finals(state);
  state.stopped_because = StopReason::not_yet;
  state.phase = RacePhase::racing;
}

std::vector<CandidateId> next_members(const RaceState& state) {
  if (state.phase == RacePhase::done || waits_for_others(state)) {
    return {};
  }
  std::vector<CandidateId> ids = state.phase == RacePhase::finals ? finalists(state)
                                 : over_budget(state)             ? unsampled(state)
                                                                  : in_need_of_samples(state);
  std::erase_if(ids, [&](CandidateId id) { return !collects(state, id); });
  return ids;
}

bool collects(const RaceState& state, CandidateId id) {
  if (state.phase == RacePhase::finals) {
    const std::vector<CandidateId> ids = finalists(state);
    return is_among(id, ids);
  }
  return state.candidates.at(id).in_contention() && !has_repeats(state, id);
}

bool may_abandon_round(const RaceState& state) {
  return over_budget(state) && unsampled(state).empty() && !owes_whole_round(state);
}

}  // namespace fatune
