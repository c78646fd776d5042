// The leader, the bets against the others, and eliminations.
#include <algorithm>
#include <cstddef>

#include "race/race.hpp"

namespace fatune {
namespace {

// With fewer samples a median does not identify the leader reliably.
constexpr std::size_t kLeastToLead = 3;

}  // namespace

LosingEvidence Race::fresh_evidence() const {
  return LosingEvidence({policy_.clear_chance, policy_.gross_chance, policy_.hopeless_chance});
}

std::optional<CandidateId> Race::fastest_admission() const {
  std::optional<CandidateId> fastest;
  for (const RacedCandidate& candidate : candidates_) {
    if (!candidate.withdrawn && candidate.admission_us &&
        (!fastest || *candidate.admission_us < *candidates_.at(*fastest).admission_us)) {
      fastest = candidate.id;
    }
  }
  return fastest;
}

AdmissionLoss Race::admission_loss(double admission_us, double fastest_us) const {
  if (admission_us > fastest_us * (1.0 + policy_.hopeless_margin) &&
      policy_.admission_may_eliminate) {
    return AdmissionLoss::hopeless;
  }
  return admission_us > fastest_us * (1.0 + policy_.admission_margin) ? AdmissionLoss::gross
                                                                      : AdmissionLoss::none;
}

void Race::compare_admissions() {
  const auto fastest = fastest_admission();
  if (policy_.strategy != Strategy::race || phase_ != Phase::racing || !fastest) {
    return;
  }
  const double fastest_us = *candidates_.at(*fastest).admission_us;
  for (RacedCandidate& candidate : candidates_) {
    if (!candidate.in_contention() || !candidate.admission_us) {
      continue;
    }
    const AdmissionLoss loss = admission_loss(*candidate.admission_us, fastest_us);
    candidate.evidence.set_admission(loss);
    if (loss != AdmissionLoss::none) {
      candidate.opponents.insert(*fastest);
    }
  }
  if (!in_round()) {
    eliminate(rounds_);
    choose_leader();
  }
}

void Race::place_bets(bool off) {
  if (policy_.strategy == Strategy::race) {
    for (const RoundSample& sample : round_->samples()) {
      bet(sample, off);
    }
  }
}

void Race::bet(const RoundSample& sample, bool off) {
  // Chosen before the round: that is what the evidence's guarantee rests on.
  const auto leader_us = leader_ ? round_->time_us_of(*leader_) : std::nullopt;
  RacedCandidate& candidate = candidates_.at(sample.candidate);
  if (!leader_us || sample.candidate == leader_ || !candidate.in_contention()) {
    return;
  }
  candidate.opponents.insert(*leader_);
  const double ratio = sample.time_us / *leader_us;
  // Bets at even odds also count rounds that are off, even discarded ones: counting only the rounds
  // in which the sentinel was not slow would favour the sentinel, which may be the leader. Bets on
  // clear and gross losses leave such rounds out, because the assumption that these losses are rare
  // does not cover them.
  candidate.evidence.add(ratio > 1.0 + policy_.gross_margin   ? Loss::gross
                         : ratio > 1.0 + policy_.clear_margin ? Loss::clear
                         : ratio > 1.0 + policy_.margin       ? Loss::slight
                                                              : Loss::none,
                         !off);
}

bool Race::is_beaten(CandidateId id) const {
  const RacedCandidate& candidate = candidates_.at(id);
  const bool has_time =
      !candidate.race.empty() || (candidate.admission_us && policy_.admission_may_eliminate);
  return has_time && !candidate.kept_in &&
         candidate.evidence.stake() * policy_.false_elimination >= 1.0;
}

std::vector<CandidateId> Race::eliminate(int round) {
  std::vector<CandidateId> losers = contenders();
  std::erase_if(losers, [&](CandidateId id) { return !is_beaten(id); });
  for (const CandidateId loser : losers) {
    candidates_.at(loser).eliminated_in_round = candidates_.at(loser).race.empty() ? 0 : round;
    std::erase(finalists_, loser);
  }
  return losers;
}

std::optional<double> Race::leading_us(CandidateId id, std::size_t least) const {
  const RacedCandidate& candidate = candidates_.at(id);
  const Series& series = candidate.finals.size() >= least ? candidate.finals : candidate.race;
  return series.size() < least ? std::nullopt : std::optional(series.median_us());
}

void Race::choose_leader() {
  leader_.reset();
  double fastest_us = 0.0;
  const auto look = [&](const auto& time_of) {
    for (const CandidateId id : phase_ == Phase::finals ? finalists_ : contenders()) {
      const std::optional<double> time_us = time_of(id);
      if (time_us && (!leader_ || *time_us < fastest_us)) {
        leader_ = id;
        fastest_us = *time_us;
      }
    }
  };
  look([&](CandidateId id) { return leading_us(id, kLeastToLead); });
  if (!leader_) {
    look([&](CandidateId id) { return leading_us(id, 1); });
  }
  if (!leader_) {
    look([&](CandidateId id) { return candidates_.at(id).admission_us; });
  }
}

bool Race::reinstate_opponents_of(CandidateId withdrawn) {
  bool someone_returns = false;
  for (RacedCandidate& candidate : candidates_) {
    if (candidate.opponents.count(withdrawn) > 0) {
      someone_returns = someone_returns || (candidate.eliminated_in_round && !candidate.withdrawn);
      candidate.opponents.clear();
      candidate.evidence = fresh_evidence();
      candidate.eliminated_in_round.reset();
    }
  }
  return someone_returns;
}

}  // namespace fatune
