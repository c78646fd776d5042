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
  std::uint64_t seed = 1;          ///< of the order within the rounds
  double confidence = 0.95;        ///< of the reported intervals
  double target_ci = 0.005;        ///< half-width of the winner's interval, over its median
  std::optional<double> budget_s;  ///< for one problem: race and finals together
  /// Probability with which the best candidate may be dropped (evidence.hpp says what that means).
  double false_elimination = 0.01;
  double margin = 0.002;           ///< by how much a sample must exceed the leader's to be a loss
  double clear_margin = 0.015;     ///< and to be a clear loss
  double gross_margin = 0.05;      ///< and to be a gross loss
  LossChances chances;             ///< of the best candidate: an assumption about the noise
  double admission_margin = 0.10;  ///< gross_margin of admission samples, which share no round
  double hopeless_margin = 0.50;   ///< the admission sample alone may eliminate from here on
  bool admission_may_eliminate = true;
  double sentinel_tolerance =
      0.03;                      ///< a round with a greater deviation of the sentinel is retaken
  int most_sample_retakes = 3;   ///< of one candidate in one round, because of throttling
  int most_round_retakes = 2;    ///< of one round, because of its sentinel
  int most_retaken_rounds = 16;  ///< in the whole race
  int most_rounds = 1000;        ///< of a race, and of its finals
  int least_race_samples = 3;  ///< of each contender, before they may be few enough for the finals
  double race_ci = 0.01;       ///< target_ci of the race, where contenders are more than finalists
  int most_finalists = 8;
  int most_finalists_after_part = 12;  ///< more than that race on the whole problem before them
  int least_final_rounds = 8;
  /// The part's share of the whole problem's work, where early rounds are on a part; above 0, below
  /// 1. Ignored by the exhaustive strategy.
  std::optional<double> part_share{};
  /// By how much more than on the whole problem a candidate may be behind on the part: an
  /// assumption.
  double part_margin = 0.01;
  int least_part_samples = 4;        ///< least_race_samples on the part
  int most_part_samples = 8;         ///< of each contender, before it goes on to the whole problem
  double finals_budget_share = 0.3;  ///< of budget_s, kept back for the finals
};

/// Throws std::invalid_argument, naming the member, where one is out of its range.
void check_policy(const RacePolicy& policy);

}  // namespace fatune
