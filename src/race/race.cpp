#include "race/race.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "race/standings.hpp"

namespace fatune {
namespace {

// Rounds have seeds of their own, which depend on the samples so far and not on how often next()
// was asked. Odd: no two rounds share one.
constexpr std::uint64_t kSeedStep = 0x9e3779b97f4a7c15;

void check_time(double time_us) {
  if (!std::isfinite(time_us) || time_us <= 0.0) {
    throw std::invalid_argument(fmt::format("a sample of {} us", time_us));
  }
}

}  // namespace

Race::Race(RacePolicy policy)
    : policy_(policy), random_(policy.seed), sentinel_samples_(policy.sentinel_tolerance) {
  check_policy(policy_);
}

void Race::admit(CandidateId id, std::optional<double> admission_us, bool kept_in) {
  if (closed_) {
    throw std::logic_error("a candidate joins a race that has been closed");
  }
  if (candidates_.contains(id)) {
    throw std::invalid_argument("a candidate joins a race twice");
  }
  if (admission_us) {
    check_time(*admission_us);
  }
  RacedCandidate& candidate = candidates_.add({id});
  candidate.admission_us = admission_us;
  candidate.kept_in = kept_in;
  candidate.evidence = fresh_evidence();
  compare_admissions();
}

Step Race::next(double elapsed_s) {
  elapsed_s_ = elapsed_s;
  if (!in_round() || may_abandon_round()) {
    round_.reset();
    begin_round();
  }
  if (round_) {
    return {Step::Kind::sample, round_->next().value(), rounds_ + final_rounds_};
  }
  return phase_ == Phase::done ? Step{} : Step{Step::Kind::wait};
}

bool Race::in_round() const { return round_ && samples_taken_ > samples_before_round_; }

void Race::record(double time_us, bool throttled) {
  check_time(time_us);
  if (!round_) {
    throw std::logic_error("a sample that the race did not ask for");
  }
  ++samples_taken_;
  if (!round_->record(time_us, throttled)) {
    ++samples_retaken_;
  }
  end_round_if_complete();
}

void Race::withdraw(CandidateId candidate) {
  static_cast<void>(next(elapsed_s_));  // as if it had been asked, whether it was or not
  candidates_.at(candidate).withdrawn = true;
  std::erase(finalists_, candidate);
  if (round_) {
    round_->drop(candidate);
  }
  if (sentinel_ == candidate) {
    sentinel_.reset();
    sentinel_samples_ = Sentinel(policy_.sentinel_tolerance);
  }
  const bool someone_returns = reinstate_opponents_of(candidate);
  if (phase_ != Phase::racing && policy_.strategy == Strategy::race &&
      (someone_returns || finalists_.empty())) {
    back_to_racing();
  }
  choose_leader();
  end_round_if_complete();
  compare_admissions();
}

void Race::begin_round() {
  advance();
  std::vector<CandidateId> sampled = members();
  if (!sampled.empty()) {
    random_.seed(policy_.seed + kSeedStep * static_cast<std::uint64_t>(samples_taken_));
    round_.emplace(std::move(sampled), policy_.most_sample_retakes, random_);
    samples_before_round_ = samples_taken_;
  }
}

void Race::end_round_if_complete() {
  while (round_ && !round_->next()) {
    end_round();
  }
}

void Race::end_round() {
  const auto sentinel_us = sentinel_ ? round_->time_us_of(*sentinel_) : std::nullopt;
  const bool off = sentinel_us && sentinel_samples_.is_off(*sentinel_us);
  place_bets(off);
  if (off && round_->times_restarted() < policy_.most_round_retakes &&
      retaken_rounds_ < policy_.most_retaken_rounds) {
    retake_round();
    return;
  }
  accept(off);
  round_.reset();
}

void Race::retake_round() {
  ++retaken_rounds_;
  samples_retaken_ += static_cast<std::int64_t>(round_->samples().size());
  for (const CandidateId loser : eliminate(rounds_ + final_rounds_ + 1)) {
    if (loser != sentinel_) {
      round_->drop(loser);
    }
  }
  round_->restart(random_);
}

void Race::accept(bool off) {
  if (round_->samples().empty()) {
    return;  // all withdrawn
  }
  ++(phase_ == Phase::racing ? rounds_ : final_rounds_);
  for (const RoundSample& sample : round_->samples()) {
    keep(sample, off);
  }
  eliminate(rounds_ + final_rounds_);
  watch_sentinel();
  choose_leader();
}

bool Race::collects(CandidateId id) const {
  if (phase_ == Phase::finals) {
    return std::find(finalists_.begin(), finalists_.end(), id) != finalists_.end();
  }
  return candidates_.at(id).in_contention() && !has_repeats(id);
}

void Race::keep(const RoundSample& sample, bool off) {
  if (!collects(sample.candidate)) {
    return;  // it was there as the sentinel
  }
  RacedCandidate& candidate = candidates_.at(sample.candidate);
  if (phase_ == Phase::racing) {
    candidate.race.add(rounds_, sample.time_us);
  } else {
    candidate.finals.add(final_rounds_, sample.time_us);
  }
  candidate.kept_throttled += static_cast<int>(sample.throttled);
  candidate.kept_off_rounds += static_cast<int>(off);
}

void Race::watch_sentinel() {
  if (!sentinel_) {
    sentinel_ = std::min_element(round_->samples().begin(), round_->samples().end(),
                                 [](const RoundSample& a, const RoundSample& b) {
                                   return a.time_us < b.time_us;
                                 })
                    ->candidate;
  }
  if (const auto time_us = round_->time_us_of(*sentinel_)) {
    sentinel_samples_.add(*time_us);
  }
}

RaceResult Race::result() const {
  CandidateList<RacedCandidate> candidates = candidates_;
  if (round_) {
    for (const RoundSample& sample : round_->samples()) {
      RacedCandidate& candidate = candidates.at(sample.candidate);
      if (candidate.race.empty()) {
        candidate.race.add(rounds_ + 1, sample.time_us);
      }
    }
  }
  for (RacedCandidate& candidate : candidates) {
    if (candidate.race.empty() && candidate.admission_us) {
      candidate.race.add(0, *candidate.admission_us);
    }
  }
  RaceResult result;
  // Before the end of the finals stopped_because_ has the reason for which they began.
  const StopReason reason = phase_ == Phase::done ? stopped_because_ : StopReason::not_yet;
  result.standings = make_standings(candidates, policy_, reason);
  result.rounds = rounds_;
  result.final_rounds = final_rounds_;
  result.samples_taken = samples_taken_;
  result.samples_retaken = samples_retaken_;
  result.drift_percent = sentinel_samples_.drift_percent();
  result.sentinel = sentinel_;
  result.elapsed_s = elapsed_s_;
  result.stopped_because = reason;
  result.warnings = warnings_;
  return result;
}

}  // namespace fatune
