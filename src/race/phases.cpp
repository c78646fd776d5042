#include "race/race_state.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/ranges.hpp"

namespace fatune {
namespace {

// The noise is examined only every so many rounds, so that there are few chances to stop by
// accident.
constexpr int kNoiseStep = 32;

bool over_budget(const RaceState& state) {
  if (!state.policy.budget_s) {
    return false;
  }
  const bool keep_some =
      state.phase == RacePhase::racing && state.policy.strategy == Strategy::race;
  const double share = keep_some ? 1.0 - state.policy.finals_budget_share : 1.0;
  return state.elapsed_s >= *state.policy.budget_s * share;
}

/// The number of candidates that the finals have room for.
std::size_t most_finalists(const RaceState& state) {
  return static_cast<std::size_t>(has_part(state.policy) && !over_budget(state)
                                      ? state.policy.most_finalists_after_part
                                      : state.policy.most_finalists);
}

/// Whether the candidate has too few samples to be in the finals.
bool is_needy(const RaceState& state, CandidateId id) {
  // A candidate that joins later may eliminate it, so one sample is enough until then.
  const int least = !state.closed            ? 1
                    : state.on_part          ? state.policy.least_part_samples
                    : has_part(state.policy) ? 0
                                             : state.policy.least_race_samples;
  return state.candidates.at(id).race.size() < static_cast<std::size_t>(least);
}

/// Whether the candidate has all samples of an exhaustive run.
bool has_repeats(const RaceState& state, CandidateId id) {
  return state.policy.strategy == Strategy::exhaustive &&
         state.candidates.at(id).race.size() >= static_cast<std::size_t>(state.policy.repeats);
}

/// The contenders without an accepted sample.
std::vector<CandidateId> unsampled(const RaceState& state) {
  std::vector<CandidateId> ids = contenders(state);
  std::erase_if(ids, [&](CandidateId id) { return state.candidates.at(id).has_samples(); });
  return ids;
}

/// Whether the race must not end yet, because no round of the finals has been on the whole problem.
bool owes_whole_round(const RaceState& state) {
  return has_part(state.policy) && state.phase == RacePhase::finals && state.final_rounds == 0;
}

const Series& series_of(const RaceState& state, CandidateId id) {
  return state.phase == RacePhase::finals ? state.candidates.at(id).finals
                                          : state.candidates.at(id).race;
}

std::size_t least_samples(const RaceState& state, const std::vector<CandidateId>& sampled) {
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const CandidateId id : sampled) {
    least = std::min(least, series_of(state, id).size());
  }
  return least;
}

bool is_wide(const Series& series, double target_ci, const RacePolicy& policy) {
  const auto width = relative_half_width(series, policy.confidence);
  return !width || *width > target_ci;
}

/// Whether the candidate's ratio to the leader is not known well enough. If launches are long, the
/// clock changes between them, and ratios to the leader need fewer samples than times do. The
/// finals only have to show that no other candidate is faster than the leader by more than the
/// target.
bool is_vague_beside_leader(const RaceState& state, CandidateId id, double target_ci) {
  const auto ratio = ratio_interval(state.candidates.at(id), state.candidates.at(*state.leader),
                                    state.policy.confidence);
  if (!ratio) {
    return true;
  }
  const bool may_win = state.phase == RacePhase::racing || ratio->low < 1.0 - target_ci;
  return may_win && ratio->high - ratio->low > target_ci * (ratio->high + ratio->low);
}

/// Whether the candidate's time must be known better. If the policy has a part, the ratio to the
/// leader must meet the target instead, and the leader's time must be known to four times the
/// target.
bool is_vague(const RaceState& state, CandidateId id) {
  constexpr double kLeaderTargets = 4.0;
  const RacePolicy& policy = state.policy;
  const double target_ci = state.phase == RacePhase::finals ? policy.target_ci : policy.race_ci;
  const bool by_ratio = has_part(policy) && !state.candidates.at(id).kept_in;
  if (!by_ratio) {
    return is_wide(series_of(state, id), target_ci, policy);
  }
  return id == state.leader ? is_wide(series_of(state, id), kLeaderTargets * target_ci, policy)
                            : is_vague_beside_leader(state, id, target_ci);
}

StopReason judge(const RaceState& state, const std::vector<CandidateId>& sampled) {
  const int rounds = state.phase == RacePhase::finals ? state.final_rounds : state.rounds;
  std::size_t vague = 0;
  std::size_t stuck = 0;
  for (const CandidateId id : sampled) {
    const Series& series = series_of(state, id);
    if (is_vague(state, id)) {
      ++vague;
      stuck += static_cast<std::size_t>(rounds % kNoiseStep == 0 &&
                                        series.size() >= std::size_t{kNoiseStep} &&
                                        stopped_narrowing(series, state.policy.confidence));
    }
  }
  if (vague == 0) {
    return StopReason::target;
  }
  if (2 * stuck > vague) {
    return StopReason::noise;
  }
  return least_samples(state, sampled) >= static_cast<std::size_t>(state.policy.most_rounds)
             ? StopReason::round_limit
             : StopReason::not_yet;
}

std::vector<CandidateId> leader_tied_and_kept(const RaceState& state,
                                              std::vector<CandidateId> ids) {
  std::erase_if(ids, [&](CandidateId id) {
    const auto ratio =
        id == state.leader || state.candidates.at(id).kept_in
            ? std::nullopt
            : ratio_interval(state.candidates.at(id), state.candidates.at(*state.leader),
                             state.policy.confidence);
    return ratio && ratio->low > 1.0;
  });
  return ids;
}

bool few_are_left(const RaceState& state) {
  const std::vector<CandidateId> ids = contenders(state);
  return ids.size() <= most_finalists(state) &&
         std::ranges::none_of(ids, [&](CandidateId id) { return is_needy(state, id); });
}

/// The reason for which the race may end if no other candidate joins; not_yet: there is none.
StopReason end_of_race(const RaceState& state) {
  const std::vector<CandidateId> ids = contenders(state);
  if (ids.empty()) {
    return StopReason::nobody_left;
  }
  if (!unsampled(state).empty()) {
    return StopReason::not_yet;
  }
  if (over_budget(state)) {
    return StopReason::budget;
  }
  if (state.policy.strategy == Strategy::exhaustive) {
    const auto has_all = [&](CandidateId id) { return has_repeats(state, id); };
    return std::ranges::all_of(ids, has_all) ? StopReason::fixed_count : StopReason::not_yet;
  }
  return few_are_left(state) ? StopReason::target : judge(state, leader_tied_and_kept(state, ids));
}

/// Whether the race has been on the part for long enough, if no other candidate joins.
bool can_leave_part(const RaceState& state) {
  const auto most = static_cast<std::size_t>(state.policy.most_part_samples);
  return unsampled(state).empty() && (over_budget(state) || few_are_left(state) ||
                                      least_samples(state, contenders(state)) >= most);
}

StopReason end_of_finals(const RaceState& state) {
  if (owes_whole_round(state)) {
    return StopReason::not_yet;
  }
  if (over_budget(state)) {
    return StopReason::budget;
  }
  return state.final_rounds < state.policy.least_final_rounds
             ? StopReason::not_yet
             : judge(state, leader_tied_and_kept(state, finalists(state)));
}

// An interval at 95 % needs six samples; finals with fewer say less than the race.
constexpr int kLeastUsefulFinals = 6;

std::vector<CandidateId> in_need_of_samples(const RaceState& state) {
  std::vector<CandidateId> ids = contenders(state);
  if (state.policy.strategy == Strategy::race && ids.size() <= most_finalists(state)) {
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
  // on the whole problem, without the finals
  const auto has_no_time = [&](CandidateId id) { return state.candidates.at(id).race.empty(); };
  if (state.final_rounds < kLeastUsefulFinals && std::ranges::none_of(state.chosen, has_no_time) &&
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

std::vector<CandidateId> contenders(const RaceState& state) {
  std::vector<CandidateId> ids;
  for (const RacedCandidate& candidate : state.candidates) {
    if (candidate.in_contention()) {
      ids.push_back(candidate.id);
    }
  }
  return ids;
}

std::vector<CandidateId> finalists(const RaceState& state) {
  std::vector<CandidateId> ids = state.chosen;
  std::erase_if(ids, [&](CandidateId id) { return !state.candidates.at(id).in_contention(); });
  return ids;
}

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
