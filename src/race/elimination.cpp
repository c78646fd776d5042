#include "race/race_state.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/ranges.hpp"

namespace fatune {
namespace {

// With fewer samples a median does not identify the leader reliably.
constexpr std::size_t kLeastToLead = 3;

const RacedCandidate* fastest_admission(const CandidateList<RacedCandidate>& candidates) {
  const RacedCandidate* fastest = nullptr;
  for (const RacedCandidate& candidate : candidates) {
    if (!candidate.withdrawn && candidate.admission_us &&
        (fastest == nullptr || *candidate.admission_us < *fastest->admission_us)) {
      fastest = &candidate;
    }
  }
  return fastest;
}

/// The factor by which the best candidate may seem slower than another. On the part of the problem
/// it consists of the part's margin and of the difference that the last waves of their blocks can
/// make; elsewhere it is 1.
double allowance(const RaceState& state, const RacedCandidate& best, const RacedCandidate& other) {
  return state.on_part ? (1.0 + state.policy.part_margin) * (1.0 + best.part_tail.most) /
                             (1.0 + other.part_tail.least)
                       : 1.0;
}

AdmissionLoss admission_loss(double admission_us, double fastest_us, const RacePolicy& policy) {
  if (admission_us > fastest_us * (1.0 + policy.hopeless_margin) &&
      policy.admission_may_eliminate) {
    return AdmissionLoss::hopeless;
  }
  return admission_us > fastest_us * (1.0 + policy.admission_margin) ? AdmissionLoss::gross
                                                                     : AdmissionLoss::none;
}

Loss loss_of(double ratio, const RacePolicy& policy) {
  return ratio > 1.0 + policy.gross_margin   ? Loss::gross
         : ratio > 1.0 + policy.clear_margin ? Loss::clear
         : ratio > 1.0 + policy.margin       ? Loss::slight
                                             : Loss::none;
}

void bet(const RoundSample& sample, double leader_us, bool off, RaceState& state) {
  RacedCandidate& candidate = state.candidates.at(sample.candidate);
  if (sample.candidate == state.leader || !candidate.in_contention()) {
    return;
  }
  candidate.opponents.insert(*state.leader);
  // Bets at even odds also count rounds that are off, even discarded ones: counting only the rounds
  // in which the sentinel was not slow would favour the sentinel, which may be the leader. Bets on
  // clear and gross losses leave such rounds out, because the assumption that these losses are rare
  // does not cover them.
  const RacedCandidate& leader = state.candidates.at(*state.leader);
  const double ratio = sample.time_us / (leader_us * allowance(state, candidate, leader));
  candidate.evidence.add(loss_of(ratio, state.policy), !off);
}

bool is_beaten(const RacedCandidate& candidate, const RacePolicy& policy) {
  const bool has_time =
      candidate.has_samples() || (candidate.admission_us && policy.admission_may_eliminate);
  return has_time && !candidate.kept_in &&
         candidate.evidence.stake() * policy.false_elimination >= 1.0;
}

std::optional<double> leading_us(const RacedCandidate& candidate, std::size_t least) {
  const Series& series = candidate.finals.size() >= least ? candidate.finals : candidate.race;
  return series.size() < least ? std::nullopt : std::optional(series.median_us());
}

bool is_placed(const RacedCandidate& candidate) {
  return !candidate.withdrawn && candidate.has_samples();
}

// The order of places: finalists, candidates eliminated in the finals, other contenders, other
// eliminated candidates. Of the last two, those timed on the whole problem come first.
auto sort_key(const RacedCandidate& candidate) {
  return std::tuple(candidate.finals.empty(), candidate.eliminated_in_round.has_value(),
                    candidate.is_of_part(), candidate.ranked().median_us());
}

/// A candidate that has samples, and its standing.
struct Placed {
  const RacedCandidate* candidate;
  Standing* standing;
};

bool tied(const Placed& placed, const Placed& fastest, const RacePolicy& policy) {
  if (placed.candidate->eliminated_in_round && !fastest.candidate->eliminated_in_round) {
    return false;
  }
  const auto interval = ratio_interval(*placed.candidate, *fastest.candidate, policy.confidence);
  return interval ? interval->low <= 1.0
                  : placed.standing->timing.median_us <=
                        fastest.standing->timing.median_us * (1.0 + policy.admission_margin);
}

std::vector<std::string> warnings_of(const RacedCandidate& candidate) {
  std::vector<std::string> warnings;
  if (candidate.kept_throttled > 0) {
    warnings.push_back(fmt::format("{} samples were taken while the GPU throttled its clocks",
                                   candidate.kept_throttled));
  }
  if (candidate.kept_off_rounds > 0) {
    warnings.push_back(
        fmt::format("{} samples are of rounds in which the GPU was unusually fast or slow",
                    candidate.kept_off_rounds));
  }
  return warnings;
}

/// The factor by which the whole problem takes longer than the part: the ratio measured with the
/// fastest candidate that was timed on both, else the inverse of the part's share of the work.
double part_scale(const CandidateList<RacedCandidate>& candidates, const RacePolicy& policy) {
  const RacedCandidate* fastest = nullptr;
  for (const RacedCandidate& candidate : candidates) {
    const bool on_both = is_placed(candidate) && !candidate.part.empty() && !candidate.is_of_part();
    if (on_both && (fastest == nullptr || sort_key(candidate) < sort_key(*fastest))) {
      fastest = &candidate;
    }
  }
  return fastest != nullptr ? fastest->ranked().median_us() / fastest->part.median_us()
                            : 1.0 / policy.part_share.value_or(1.0);
}

Standing describe(const RacedCandidate& candidate, const RacePolicy& policy, double scale,
                  StopReason stopped_because) {
  Standing result;
  result.candidate = candidate.id;
  result.eliminated_in_round = candidate.eliminated_in_round;
  result.warnings = warnings_of(candidate);
  if (is_placed(candidate)) {
    result.finalist = !candidate.finals.empty();
    result.part_share = candidate.is_of_part() ? policy.part_share.value_or(0.0) : 0.0;
    const double of_part = result.part_share > 0.0 ? scale : 1.0;
    result.timing =
        summarise(mapped(candidate.ranked().taken_us(), [=](double us) { return us * of_part; }),
                  policy.confidence);
    result.timing.stopped_because = candidate.eliminated_in_round
                                        ? elimination_text(*candidate.eliminated_in_round)
                                        : std::string(enum_name(stopped_because));
  }
  return result;
}

void number(std::vector<Placed> order, const RacePolicy& policy) {
  std::ranges::stable_sort(order, [](const Placed& a, const Placed& b) {
    return sort_key(*a.candidate) < sort_key(*b.candidate);
  });
  int place = 0;
  int group = 0;
  const Placed* fastest = nullptr;
  for (const Placed& placed : order) {
    if (place > 0) {
      placed.standing->to_fastest =
          ratio_interval(*placed.candidate, *order.front().candidate, policy.confidence);
    }
    if (fastest == nullptr || !tied(placed, *fastest, policy)) {
      fastest = &placed;
      ++group;
    }
    placed.standing->place = ++place;
    placed.standing->tie_group = group;
  }
}

std::vector<double> ratios_of_shared_rounds(const Series& a, const Series& b) {
  std::vector<double> ratios;
  std::size_t j = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    while (j < b.size() && b.rounds()[j] < a.rounds()[i]) {
      ++j;
    }
    if (j < b.size() && b.rounds()[j] == a.rounds()[i]) {
      ratios.push_back(a.taken_us()[i] / b.taken_us()[j]);
    }
  }
  return ratios;
}

constexpr double kNarrowing = 0.9;

std::optional<MedianInterval> interval_of(std::span<const double> sorted, double confidence) {
  if (sorted.empty()) {
    return std::nullopt;
  }
  const MedianInterval interval = median_interval(sorted, confidence);
  return interval.confidence >= confidence ? std::optional(interval) : std::nullopt;
}

}  // namespace

bool compare_admissions(RaceState& state) {
  const RacedCandidate* fastest = fastest_admission(state.candidates);
  if (state.policy.strategy != Strategy::race || state.phase != RacePhase::racing ||
      fastest == nullptr) {
    return false;
  }
  for (RacedCandidate& candidate : state.candidates) {
    if (!candidate.in_contention() || !candidate.admission_us) {
      continue;
    }
    const double fastest_us = *fastest->admission_us * allowance(state, candidate, *fastest);
    const AdmissionLoss loss = admission_loss(*candidate.admission_us, fastest_us, state.policy);
    candidate.evidence.set_admission(loss);
    if (loss != AdmissionLoss::none) {
      candidate.opponents.insert(fastest->id);
    }
  }
  return true;
}

void place_bets(const Round& round, bool off, RaceState& state) {
  // The leader was chosen before the round. The guarantee of the evidence rests on that.
  const auto leader_us = state.leader ? round.time_us_of(*state.leader) : std::nullopt;
  if (state.policy.strategy == Strategy::race && leader_us) {
    for (const RoundSample& sample : round.samples()) {
      bet(sample, *leader_us, off, state);
    }
  }
}

std::vector<CandidateId> eliminate(int round, RaceState& state) {
  std::vector<CandidateId> losers;
  for (RacedCandidate& candidate : state.candidates) {
    if (candidate.in_contention() && is_beaten(candidate, state.policy)) {
      candidate.eliminated_in_round = candidate.has_samples() ? round : 0;
      losers.push_back(candidate.id);
    }
  }
  return losers;
}

void choose_leader(RaceState& state) {
  const auto ids = state.phase == RacePhase::finals ? finalists(state) : contenders(state);
  const auto look = [&](const auto& time_of) {
    state.leader.reset();
    double fastest_us = 0.0;
    for (const CandidateId id : ids) {
      const std::optional<double> time_us = time_of(state.candidates.at(id));
      if (time_us && (!state.leader || *time_us < fastest_us)) {
        state.leader = id;
        fastest_us = *time_us;
      }
    }
    return state.leader.has_value();
  };
  static_cast<void>(
      look([](const RacedCandidate& candidate) { return leading_us(candidate, kLeastToLead); }) ||
      look([](const RacedCandidate& candidate) { return leading_us(candidate, 1); }) ||
      look([](const RacedCandidate& candidate) { return candidate.admission_us; }) ||
      look([](const RacedCandidate& candidate) {
        return candidate.part.empty() ? std::nullopt : std::optional(candidate.part.median_us());
      }));
}

bool reinstate_opponents_of(CandidateId withdrawn, RaceState& state) {
  bool someone_returns = false;
  for (RacedCandidate& candidate : state.candidates) {
    if (candidate.opponents.count(withdrawn) > 0) {
      someone_returns = someone_returns || (candidate.eliminated_in_round && !candidate.withdrawn);
      candidate.opponents.clear();
      candidate.evidence = LosingEvidence(state.policy.chances);
      candidate.eliminated_in_round.reset();
    }
  }
  return someone_returns;
}

std::vector<Standing> make_standings(const CandidateList<RacedCandidate>& candidates,
                                     const RacePolicy& policy, StopReason stopped_because) {
  std::vector<Standing> standings;
  standings.reserve(candidates.size());
  const double scale = part_scale(candidates, policy);
  std::vector<Placed> placed;
  for (const RacedCandidate& candidate : candidates) {
    Standing& standing =
        standings.emplace_back(describe(candidate, policy, scale, stopped_because));
    if (is_placed(candidate)) {
      placed.push_back({&candidate, &standing});
    }
  }
  number(std::move(placed), policy);
  return standings;
}

void Series::add(int round, double time_us) {
  rounds_.push_back(round);
  taken_us_.push_back(time_us);
  sorted_us_.insert(std::upper_bound(sorted_us_.begin(), sorted_us_.end(), time_us), time_us);
}

double Series::median_us() const { return median_of_sorted(sorted_us_); }

std::vector<double> paired_ratios(const RacedCandidate& a, const RacedCandidate& b) {
  const bool both_in_finals = !a.finals.empty() && !b.finals.empty();
  const bool both_in_race = !a.race.empty() && !b.race.empty();
  return both_in_finals ? ratios_of_shared_rounds(a.finals, b.finals)
         : both_in_race ? ratios_of_shared_rounds(a.race, b.race)
                        : ratios_of_shared_rounds(a.part, b.part);
}

std::optional<double> relative_half_width(const Series& series, double confidence) {
  const auto interval = interval_of(series.sorted_us(), confidence);
  if (!interval) {
    return std::nullopt;
  }
  return (interval->high - interval->low) / (2.0 * series.median_us());
}

bool stopped_narrowing(const Series& series, double confidence) {
  Series first_half;
  for (std::size_t i = 0; i < series.size() / 2; ++i) {
    first_half.add(series.rounds()[i], series.taken_us()[i]);
  }
  const auto before = relative_half_width(first_half, confidence);
  const auto now = relative_half_width(series, confidence);
  return before && now && *now > kNarrowing * *before;
}

std::optional<MedianInterval> ratio_interval(const RacedCandidate& a, const RacedCandidate& b,
                                             double confidence) {
  std::vector<double> ratios = paired_ratios(a, b);
  std::ranges::sort(ratios);
  return interval_of(ratios, confidence);
}

}  // namespace fatune
