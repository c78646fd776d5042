#pragma once

#include <cstdint>
#include <optional>

#include "core/measure_policy.hpp"
#include "race/evidence.hpp"

namespace fatune {

/// The settings that decide which candidates are sampled, and when to stop. Shares are fractions:
/// 0.005 is 0.5 %.
struct RacePolicy {
  Strategy strategy = Strategy::exhaustive;
  int repeats = 64;                ///< exhaustive: samples of each candidate
  std::uint64_t seed = 1;          ///< for the shuffled order within the rounds
  double confidence = 0.95;        ///< of the reported intervals
  double target_ci = 0.005;        ///< half-width of the winner's interval, over its median
  std::optional<double> budget_s;  ///< for one problem: race and finals together
  /// The probability with which the best candidate may be dropped (evidence.hpp defines it).
  double false_elimination = 0.01;
  double margin = 0.002;           ///< a sample that exceeds the leader's by more is a loss
  double clear_margin = 0.015;     ///< by more than this: a clear loss
  double gross_margin = 0.05;      ///< by more than this: a gross loss
  LossChances chances;             ///< for the best candidate: an assumption about the noise
  double admission_margin = 0.10;  ///< gross_margin for admission samples, which share no round
  double hopeless_margin = 0.50;   ///< beyond it, the admission sample alone may eliminate
  bool admission_may_eliminate = true;
  double sentinel_tolerance =
      0.03;                      ///< a round with a greater deviation of the sentinel is retaken
  int most_sample_retakes = 3;   ///< per candidate and round, because of throttling
  int most_round_retakes = 2;    ///< per round, because of its sentinel
  int most_retaken_rounds = 16;  ///< in the whole race
  int most_rounds = 1000;        ///< of the race, and of its finals
  int least_race_samples = 3;    ///< per contender, before few contenders go to the finals
  double race_ci = 0.01;         ///< target_ci of the race, if contenders outnumber finalists
  int most_finalists = 8;
  int most_finalists_after_part = 12;  ///< more than this race on the whole problem first
  int least_final_rounds = 8;
  /// The part's share of the whole problem's work, if early rounds are on a part; above 0, below 1.
  /// Ignored by the exhaustive strategy.
  std::optional<double> part_share{};
  /// How much further behind, as a fraction, a candidate may be on the part than on the whole
  /// problem: an assumption.
  double part_margin = 0.01;
  int least_part_samples = 4;        ///< least_race_samples on the part
  int most_part_samples = 8;         ///< per contender, before the race moves to the whole problem
  double finals_budget_share = 0.3;  ///< the share of budget_s kept back for the finals
};

/// Throws std::invalid_argument, which names the member, if a member is out of its range.
void check_policy(const RacePolicy& policy);

}  // namespace fatune
