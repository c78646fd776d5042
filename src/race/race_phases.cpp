// The members of a round, and the end of a race and its finals.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <tuple>

#include <fmt/format.h>

#include "race/precision.hpp"
#include "race/race.hpp"

namespace fatune {
namespace {

// Looking at the noise only every so many rounds leaves few chances to stop by accident.
constexpr int kNoiseStep = 32;
// An interval at 95 % needs six samples; finals with fewer say less than the race.
constexpr int kLeastUsefulFinals = 6;

}  // namespace

bool Race::over_budget() const {
  if (!policy_.budget_s) {
    return false;
  }
  const bool keep_some = phase_ == Phase::racing && policy_.strategy == Strategy::race;
  const double share = keep_some ? 1.0 - policy_.finals_budget_share : 1.0;
  return elapsed_s_ >= *policy_.budget_s * share;
}

bool Race::may_abandon_round() const { return over_budget() && unsampled().empty(); }

std::vector<CandidateId> Race::contenders() const {
  std::vector<CandidateId> ids;
  for (const RacedCandidate& candidate : candidates_) {
    if (candidate.in_contention()) {
      ids.push_back(candidate.id);
    }
  }
  return ids;
}

std::vector<CandidateId> Race::unsampled() const {
  std::vector<CandidateId> ids = contenders();
  std::erase_if(ids, [&](CandidateId id) { return !candidates_.at(id).race.empty(); });
  return ids;
}

std::vector<CandidateId> Race::members() const {
  if (phase_ == Phase::done ||
      (phase_ == Phase::racing && !closed_ && end_of_race() != StopReason::not_yet)) {
    return {};  // racing: it could end, but others may still join
  }
  std::vector<CandidateId> ids = phase_ == Phase::finals ? finalists_
                                 : over_budget()         ? unsampled()
                                                         : in_need_of_samples();
  std::erase_if(ids, [&](CandidateId id) { return !collects(id); });
  if (!ids.empty() && sentinel_ && std::find(ids.begin(), ids.end(), *sentinel_) == ids.end()) {
    ids.push_back(*sentinel_);
  }
  return ids;
}

std::vector<CandidateId> Race::in_need_of_samples() const {
  std::vector<CandidateId> ids = contenders();
  if (policy_.strategy == Strategy::race && fit_into_finals(ids)) {
    std::erase_if(ids, [&](CandidateId id) { return id != leader_ && !is_needy(id); });
  }
  return ids;
}

bool Race::fit_into_finals(const std::vector<CandidateId>& ids) const {
  return ids.size() <= static_cast<std::size_t>(policy_.most_finalists);
}

bool Race::is_needy(CandidateId id) const {
  // A candidate that joins later may eliminate it, so one sample is enough until then.
  const int least = closed_ ? policy_.least_race_samples : 1;
  return candidates_.at(id).race.size() < static_cast<std::size_t>(least);
}

void Race::advance() {
  if (phase_ == Phase::racing && closed_) {
    const StopReason reason = end_of_race();
    if (reason != StopReason::not_yet) {
      begin_finals(reason);
    }
  }
  if (phase_ == Phase::finals) {
    const StopReason reason = end_of_finals();
    if (reason != StopReason::not_yet) {
      finish(reason);
    }
  }
}

StopReason Race::end_of_race() const {
  const std::vector<CandidateId> ids = contenders();
  if (ids.empty()) {
    return StopReason::nobody_left;
  }
  if (!unsampled().empty()) {
    return StopReason::not_yet;
  }
  if (over_budget()) {
    return StopReason::budget;
  }
  if (policy_.strategy == Strategy::exhaustive) {
    const auto has_all = [&](CandidateId id) { return has_repeats(id); };
    return std::all_of(ids.begin(), ids.end(), has_all) ? StopReason::fixed_count
                                                        : StopReason::not_yet;
  }
  return few_are_left() ? StopReason::target : judge(leader_tied_and_kept(ids));
}

bool Race::few_are_left() const {
  const std::vector<CandidateId> ids = contenders();
  return fit_into_finals(ids) &&
         std::none_of(ids.begin(), ids.end(), [&](CandidateId id) { return is_needy(id); });
}

StopReason Race::end_of_finals() const {
  if (over_budget()) {
    return StopReason::budget;
  }
  return final_rounds_ < policy_.least_final_rounds ? StopReason::not_yet
                                                    : judge(leader_tied_and_kept(finalists_));
}

const Series& Race::series_of(CandidateId id) const {
  return phase_ == Phase::finals ? candidates_.at(id).finals : candidates_.at(id).race;
}

bool Race::has_repeats(CandidateId id) const {
  return policy_.strategy == Strategy::exhaustive &&
         candidates_.at(id).race.size() >= static_cast<std::size_t>(policy_.repeats);
}

std::size_t Race::least_samples(const std::vector<CandidateId>& sampled) const {
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const CandidateId id : sampled) {
    least = std::min(least, series_of(id).size());
  }
  return least;
}

bool Race::noise_is_due() const {
  return (phase_ == Phase::finals ? final_rounds_ : rounds_) % kNoiseStep == 0;
}

StopReason Race::judge(const std::vector<CandidateId>& sampled) const {
  const double target_ci = phase_ == Phase::finals ? policy_.target_ci : policy_.race_ci;
  std::size_t vague = 0;
  std::size_t stuck = 0;
  for (const CandidateId id : sampled) {
    const Series& series = series_of(id);
    const auto width = relative_half_width(series, policy_.confidence);
    if (!width || *width > target_ci) {
      ++vague;
      stuck +=
          static_cast<std::size_t>(noise_is_due() && series.size() >= std::size_t{kNoiseStep} &&
                                   stopped_narrowing(series, policy_.confidence));
    }
  }
  if (vague == 0) {
    return StopReason::target;
  }
  if (2 * stuck > vague) {
    return StopReason::noise;
  }
  return least_samples(sampled) >= static_cast<std::size_t>(policy_.most_rounds)
             ? StopReason::round_limit
             : StopReason::not_yet;
}

std::vector<CandidateId> Race::leader_tied_and_kept(std::vector<CandidateId> ids) const {
  std::erase_if(ids, [&](CandidateId id) {
    const auto ratio =
        id == leader_ || candidates_.at(id).kept_in
            ? std::nullopt
            : ratio_interval(candidates_.at(id), candidates_.at(*leader_), policy_.confidence);
    return ratio && ratio->low > 1.0;
  });
  return ids;
}

bool Race::can_still_win(CandidateId id) const {
  const auto ratio =
      ratio_interval(candidates_.at(id), candidates_.at(*leader_), policy_.confidence);
  return id == leader_ || !ratio || ratio->low <= 1.0 + policy_.margin;
}

void Race::begin_finals(StopReason reason) {
  stopped_because_ = reason;
  finalists_ = contenders();
  if (policy_.strategy == Strategy::exhaustive || finalists_.empty()) {
    finalists_.clear();
    phase_ = Phase::done;
    return;
  }
  std::erase_if(finalists_,
                [&](CandidateId id) { return !candidates_.at(id).kept_in && !can_still_win(id); });
  const auto key = [&](CandidateId id) {
    return std::tuple(!candidates_.at(id).kept_in, candidates_.at(id).race.median_us());
  };
  std::stable_sort(finalists_.begin(), finalists_.end(),
                   [&](CandidateId a, CandidateId b) { return key(a) < key(b); });
  finalists_.resize(std::min(finalists_.size(), static_cast<std::size_t>(policy_.most_finalists)));
  phase_ = Phase::finals;
}

void Race::back_to_racing() {
  for (RacedCandidate& candidate : candidates_) {
    candidate.finals = {};
  }
  final_rounds_ = 0;
  round_.reset();
  stopped_because_ = StopReason::not_yet;
  phase_ = Phase::racing;
}

void Race::finish(StopReason reason) {
  if (stopped_because_ != StopReason::budget) {
    stopped_because_ = reason;
  }
  phase_ = Phase::done;
  if (final_rounds_ < kLeastUsefulFinals && final_rounds_ < policy_.least_final_rounds) {
    for (RacedCandidate& candidate : candidates_) {
      candidate.finals = {};
    }
    warnings_.push_back(
        fmt::format("the budget ended after {} rounds of the finals: the contenders' times are "
                    "those of the race",
                    final_rounds_));
    final_rounds_ = 0;
  }
}

}  // namespace fatune
