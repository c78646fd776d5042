#include "race/race.hpp"

#include <cmath>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace fatune {
namespace {

void check_time(double time_us) {
  if (!std::isfinite(time_us) || time_us <= 0.0) {
    throw std::invalid_argument(fmt::format("a sample of {} us", time_us));
  }
}

void keep(const RoundSample& sample, bool off, RaceState& state) {
  if (!collects(state, sample.candidate)) {
    return;  // it took part only as the sentinel
  }
  RacedCandidate& candidate = state.candidates.at(sample.candidate);
  if (state.phase == RacePhase::racing) {
    candidate.race.add(state.rounds, sample.time_us);
  } else {
    candidate.finals.add(state.final_rounds, sample.time_us);
  }
  candidate.kept_throttled += static_cast<int>(sample.throttled);
  candidate.kept_off_rounds += static_cast<int>(off);
}

/// A copy of the candidates, in which those without an accepted sample have their sample of the
/// round under way, or their admission sample.
CandidateList<RacedCandidate> with_first_samples(const RaceState& state,
                                                 const std::optional<Round>& round) {
  CandidateList<RacedCandidate> candidates = state.candidates;
  for (RacedCandidate& candidate : candidates) {
    const auto time_us = round ? round->time_us_of(candidate.id) : std::nullopt;
    if (candidate.race.empty() && candidate.finals.empty() && time_us) {
      candidate.race.add(state.rounds + 1, *time_us);
    } else if (!candidate.has_samples() && candidate.admission_us) {
      candidate.race.add(0, *candidate.admission_us);
    }
  }
  if (state.on_part) {
    shelve_part_samples(candidates);
  }
  return candidates;
}

}  // namespace

Race::Race(RacePolicy policy) : state_(policy), course_(policy) { check_policy(policy); }

void Race::admit(CandidateId id, std::optional<double> admission_us, bool kept_in,
                 PartTail part_tail) {
  if (state_.closed) {
    throw std::logic_error("a candidate joins a race that has been closed");
  }
  if (state_.candidates.contains(id)) {
    throw std::invalid_argument("a candidate joins a race twice");
  }
  if (admission_us) {
    check_time(*admission_us);
  }
  state_.candidates.add({.id = id,
                         .admission_us = admission_us,
                         .evidence = LosingEvidence(state_.policy.chances),
                         .kept_in = kept_in,
                         .part_tail = part_tail});
  heed_admissions();
}

Step Race::next(double elapsed_s) {
  state_.elapsed_s = elapsed_s;
  if (!course_.has_samples() || may_abandon_round(state_)) {
    course_.abandon();
    begin_round();
  }
  if (const auto& round = course_.round()) {
    return {Step::Kind::sample, round->next().value(), state_.rounds + state_.final_rounds,
            state_.on_part, round->after_next()};
  }
  return state_.phase == RacePhase::done ? Step{} : Step{Step::Kind::wait};
}

void Race::record(double time_us, bool throttled) {
  check_time(time_us);
  if (!course_.round()) {
    throw std::logic_error("a sample that the race did not request");
  }
  course_.record(time_us, throttled);
  end_complete_rounds();
}

void Race::withdraw(CandidateId candidate) {
  static_cast<void>(next(state_.elapsed_s));  // asks on behalf of the caller, who may not have
  state_.candidates.at(candidate).withdrawn = true;
  course_.drop(candidate, state_.policy);
  const bool someone_returns = reinstate_opponents_of(candidate, state_);
  if (state_.phase != RacePhase::racing && state_.policy.strategy == Strategy::race &&
      (someone_returns || finalists(state_).empty())) {
    course_.abandon();
    back_to_racing(state_);
  }
  choose_leader(state_);
  end_complete_rounds();
  heed_admissions();
}

void Race::begin_round() {
  const bool was_on_part = state_.on_part;
  advance(state_);
  if (was_on_part && !state_.on_part) {
    course_.forget_sentinel(state_.policy);
    choose_leader(state_);
  }
  std::vector<CandidateId> members = next_members(state_);
  if (!members.empty()) {
    course_.begin(std::move(members), state_.policy);
  }
}

void Race::end_complete_rounds() {
  while (course_.round() && !course_.round()->next()) {
    end_round();
  }
}

void Race::end_round() {
  const bool off = course_.is_off();
  place_bets(*course_.round(), off, state_);
  // Rounds on the part are not retaken: they only drop candidates, and bets on the noise leave this
  // round out.
  if (off && !state_.on_part && course_.may_retake(state_.policy)) {
    course_.retake(eliminate(state_.rounds + state_.final_rounds + 1, state_));
    return;
  }
  if (!course_.round()->samples().empty()) {  // empty: all were withdrawn
    accept(off);
  }
  course_.abandon();
}

void Race::accept(bool off) {
  ++(state_.phase == RacePhase::racing ? state_.rounds : state_.final_rounds);
  state_.part_rounds += state_.on_part ? 1 : 0;
  for (const RoundSample& sample : course_.round()->samples()) {
    keep(sample, off, state_);
  }
  eliminate(state_.rounds + state_.final_rounds, state_);
  course_.accept();
  choose_leader(state_);
}

void Race::heed_admissions() {
  if (compare_admissions(state_) && !course_.has_samples()) {
    eliminate(state_.rounds, state_);
    choose_leader(state_);
  }
}

RaceResult Race::result() const {
  RaceResult result;
  static_cast<MeasuringSummary&>(result) = state_;
  if (state_.phase != RacePhase::done) {
    result.stopped_because = StopReason::not_yet;
  }
  result.standings = make_standings(with_first_samples(state_, course_.round()), state_.policy,
                                    result.stopped_because);
  result.samples_taken = course_.samples_taken();
  result.samples_retaken = course_.samples_retaken();
  result.drift_percent = course_.drift_percent();
  result.sentinel_id = course_.sentinel();
  return result;
}

}  // namespace fatune
