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
  std::uint64_t seed = 1;          ///< seeds the shuffled order within the rounds
  double confidence = 0.95;        ///< confidence of the reported intervals
  double target_ci = 0.005;        ///< half-width of the winner's interval, over its median
  std::optional<double> budget_s;  ///< limit for one problem, race and finals together
  /// The probability with which the best candidate may be dropped (evidence.hpp defines it).
  double false_elimination = 0.01;
  double margin = 0.002;        ///< a sample that exceeds the leader's by more is a loss
  double clear_margin = 0.015;  ///< a loss by more than this is clear
  double gross_margin = 0.05;   ///< a loss by more than this is gross
  LossChances chances;  ///< an assumption about the noise: how often the best candidate loses
  double admission_margin = 0.10;  ///< gross_margin for admission samples, which share no round
  double hopeless_margin = 0.50;   ///< beyond it, the admission sample alone may eliminate
  bool admission_may_eliminate = true;
  double sentinel_tolerance =
      0.03;                      ///< a round with a greater deviation of the sentinel is retaken
  int most_sample_retakes = 3;   ///< limit per candidate and round; throttling is the cause
  int most_round_retakes = 2;    ///< limit per round; its sentinel is the cause
  int most_retaken_rounds = 16;  ///< limit for the whole race
  int most_rounds = 1000;        ///< limit for the race, and again for its finals
  int least_race_samples = 3;  ///< samples of each contender before few contenders go to the finals
  double race_ci = 0.01;       ///< target_ci of the race, if contenders outnumber finalists
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
  int most_part_samples = 8;         ///< samples of each contender before the race leaves the part
  double finals_budget_share = 0.3;  ///< the share of budget_s kept back for the finals
};

/// Throws std::invalid_argument, which names the member, if a member is out of its range.
void check_policy(const RacePolicy& policy);

}  // namespace fatune
