#include "race/race_state.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>

#include "race/raced_candidate.hpp"

namespace fatune {
namespace {

// The noise is examined only every so many rounds, so that there are few chances to stop by
// accident.
constexpr int kNoiseStep = 32;

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

bool noise_is_due(const RaceState& state) {
  return (state.phase == RacePhase::finals ? state.final_rounds : state.rounds) % kNoiseStep == 0;
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
  std::size_t vague = 0;
  std::size_t stuck = 0;
  for (const CandidateId id : sampled) {
    const Series& series = series_of(state, id);
    if (is_vague(state, id)) {
      ++vague;
      stuck += static_cast<std::size_t>(noise_is_due(state) &&
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
  return fit_into_finals(state, ids) &&
         std::ranges::none_of(ids, [&](CandidateId id) { return is_needy(state, id); });
}

}  // namespace

bool over_budget(const RaceState& state) {
  if (!state.policy.budget_s) {
    return false;
  }
  const bool keep_some =
      state.phase == RacePhase::racing && state.policy.strategy == Strategy::race;
  const double share = keep_some ? 1.0 - state.policy.finals_budget_share : 1.0;
  return state.elapsed_s >= *state.policy.budget_s * share;
}

std::size_t most_finalists(const RaceState& state) {
  return static_cast<std::size_t>(has_part(state.policy) && !over_budget(state)
                                      ? state.policy.most_finalists_after_part
                                      : state.policy.most_finalists);
}

bool fit_into_finals(const RaceState& state, const std::vector<CandidateId>& ids) {
  return ids.size() <= most_finalists(state);
}

bool is_needy(const RaceState& state, CandidateId id) {
  // A candidate that joins later may eliminate it, so one sample is enough until then.
  const int least = !state.closed            ? 1
                    : state.on_part          ? state.policy.least_part_samples
                    : has_part(state.policy) ? 0
                                             : state.policy.least_race_samples;
  return state.candidates.at(id).race.size() < static_cast<std::size_t>(least);
}

bool has_repeats(const RaceState& state, CandidateId id) {
  return state.policy.strategy == Strategy::exhaustive &&
         state.candidates.at(id).race.size() >= static_cast<std::size_t>(state.policy.repeats);
}

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

bool can_leave_part(const RaceState& state) {
  const auto most = static_cast<std::size_t>(state.policy.most_part_samples);
  return unsampled(state).empty() && (over_budget(state) || few_are_left(state) ||
                                      least_samples(state, contenders(state)) >= most);
}

bool owes_whole_round(const RaceState& state) {
  return has_part(state.policy) && state.phase == RacePhase::finals && state.final_rounds == 0;
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

}  // namespace fatune
