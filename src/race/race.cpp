#include "race/race.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "race/standings.hpp"

namespace fatune {
namespace {

// With fewer samples a median says little about who leads.
constexpr std::size_t kLeastToLead = 3;

}  // namespace

Race::Race(RacePolicy policy)
    : policy_(policy), random_(policy.seed), sentinel_samples_(policy.sentinel_tolerance) {
  check_policy(policy_);
}

RunnerId Race::admit() {
  if (closed_) {
    throw std::logic_error("a candidate joins a race that has been closed");
  }
  runners_.emplace_back();
  return runners_.size() - 1;
}

Step Race::next(double elapsed_s) {
  elapsed_s_ = elapsed_s;
  if (round_ && may_abandon_round()) {
    round_.reset();
  }
  while (phase_ != Phase::done) {
    if (!round_) {
      begin_round();
    }
    if (!round_) {
      return phase_ == Phase::done ? Step{} : Step{Step::Kind::wait, 0};
    }
    if (const auto candidate = round_->next()) {
      return {Step::Kind::sample, *candidate};
    }
    end_round();
  }
  return {};
}

void Race::record(double time_us, bool throttled) {
  if (!std::isfinite(time_us) || time_us <= 0.0) {
    throw std::invalid_argument(fmt::format("a sample of {} us", time_us));
  }
  if (!round_ || !round_->next()) {
    throw std::logic_error("a sample that the race did not ask for");
  }
  ++samples_taken_;
  if (!round_->record(time_us, throttled)) {
    ++samples_retaken_;
  }
}

void Race::withdraw(RunnerId candidate) {
  runners_.at(candidate).withdrawn = true;
  std::erase(finalists_, candidate);
  if (round_) {
    round_->drop(candidate);
  }
  if (sentinel_ == candidate) {
    sentinel_.reset();
    sentinel_samples_ = Sentinel(policy_.sentinel_tolerance);
  }
  const bool someone_returns = reinstate_opponents_of(candidate);
  choose_leader();
  if (phase_ != Phase::racing && policy_.strategy == Strategy::race &&
      (someone_returns || finalists_.empty())) {
    back_to_racing();
  }
}

bool Race::reinstate_opponents_of(RunnerId withdrawn) {
  bool someone_returns = false;
  for (Runner& runner : runners_) {
    if (runner.opponents.count(withdrawn) > 0) {
      someone_returns = someone_returns || (runner.eliminated_in_round && !runner.withdrawn);
      runner.opponents.clear();
      runner.evidence = {};
      runner.eliminated_in_round.reset();
    }
  }
  return someone_returns;
}

void Race::begin_round() {
  advance();
  std::vector<RunnerId> sampled = members();
  if (!sampled.empty()) {
    round_.emplace(std::move(sampled), policy_.most_sample_retakes, random_);
  }
}

void Race::end_round() {
  // Of a round that is thrown away too: to bet on those alone in which the sentinel, perhaps the
  // leader itself, was not slow, would favour it. The shuffled order protects all alike.
  place_bets();
  const auto sentinel_us = sentinel_ ? round_->time_us_of(*sentinel_) : std::nullopt;
  const bool off = sentinel_us && sentinel_samples_.is_off(*sentinel_us);
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
  for (const RunnerId loser : eliminate(rounds_ + 1)) {
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
  eliminate(rounds_);
  watch_sentinel();
  if (phase_ == Phase::racing) {
    choose_leader();
  }
}

bool Race::collects(RunnerId id) const {
  if (phase_ == Phase::finals) {
    return std::find(finalists_.begin(), finalists_.end(), id) != finalists_.end();
  }
  return runners_[id].in_contention() && !has_repeats(id);
}

void Race::keep(const RoundSample& sample, bool off) {
  if (!collects(sample.candidate)) {
    return;  // it was there as the sentinel
  }
  Runner& runner = runners_[sample.candidate];
  if (phase_ == Phase::racing) {
    runner.race.add(rounds_, sample.time_us);
  } else {
    runner.finals.add(final_rounds_, sample.time_us);
  }
  runner.kept_throttled += static_cast<int>(sample.throttled);
  runner.kept_off_rounds += static_cast<int>(off);
}

void Race::place_bets() {
  if (phase_ == Phase::racing && policy_.strategy == Strategy::race) {
    for (const RoundSample& sample : round_->samples()) {
      bet(sample);
    }
  }
}

void Race::bet(const RoundSample& sample) {
  // Chosen before the round: that is what the evidence's guarantee rests on.
  const auto leader_us = leader_ ? round_->time_us_of(*leader_) : std::nullopt;
  Runner& runner = runners_[sample.candidate];
  if (!leader_us || sample.candidate == leader_ || !runner.in_contention()) {
    return;
  }
  runner.opponents.insert(*leader_);
  runner.evidence.add(sample.time_us > *leader_us * (1.0 + policy_.margin));
}

std::vector<RunnerId> Race::eliminate(int round) {
  std::vector<RunnerId> losers = contenders();
  std::erase_if(losers, [&](RunnerId id) {
    const Runner& runner = runners_[id];
    return runner.race.empty() || runner.evidence.stake() * policy_.false_elimination < 1.0;
  });
  for (const RunnerId loser : losers) {
    runners_[loser].eliminated_in_round = round;
  }
  return losers;
}

void Race::choose_leader() {
  std::vector<RunnerId> able = contenders();
  const auto knows_enough = [&](RunnerId id) { return runners_[id].race.size() >= kLeastToLead; };
  if (std::any_of(able.begin(), able.end(), knows_enough)) {
    std::erase_if(able, [&](RunnerId id) { return !knows_enough(id); });
  }
  std::erase_if(able, [&](RunnerId id) { return runners_[id].race.empty(); });
  const auto fastest = std::min_element(able.begin(), able.end(), [&](auto a, auto b) {
    return runners_[a].race.median_us() < runners_[b].race.median_us();
  });
  leader_ = fastest == able.end() ? std::nullopt : std::optional(*fastest);
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
  std::vector<Runner> runners = runners_;
  if (round_) {
    for (const RoundSample& sample : round_->samples()) {
      Runner& runner = runners[sample.candidate];
      if (runner.race.empty()) {
        runner.race.add(rounds_ + 1, sample.time_us);
      }
    }
  }
  RaceResult result;
  result.candidates = make_standings(runners, policy_, stopped_because_);
  result.rounds = rounds_;
  result.final_rounds = final_rounds_;
  result.samples_taken = samples_taken_;
  result.samples_retaken = samples_retaken_;
  result.drift_percent = sentinel_samples_.drift_percent();
  result.sentinel = sentinel_;
  result.elapsed_s = elapsed_s_;
  result.stopped_because = stopped_because_;
  result.warnings = warnings_;
  return result;
}

}  // namespace fatune
