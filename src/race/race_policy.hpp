#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "model/measure_policy.hpp"

namespace fatune {

/// How a candidate's sample compares with the leader's sample of the same round.
enum class Loss {
  none,
  slight,  ///< slower by more than the margin
  clear,   ///< slower by more than the clear margin
  gross,   ///< slower by more than the gross margin
};

/// How a candidate's admission sample compares with the fastest one.
enum class AdmissionLoss {
  unknown,   ///< one of the two samples is missing: no bet
  none,      ///< not slower by more than the admission margin
  gross,     ///< slower by more than the admission margin
  hopeless,  ///< slower by more than the hopeless margin
};

/// Upper bounds on the probability that the best candidate has each of these losses.
struct LossChances {
  double clear = 1.0 / 5;
  double gross = 1.0 / 25;
  double hopeless = 1.0 / 1000;
};

/// Evidence that a candidate is not the best. It may be examined after every round.
///
/// Hypothesis: whatever happened before, the probability that this candidate's sample exceeds the
/// leader's sample of the same round
///
/// - by more than the margin is at most 1/2. This holds for the best candidate against any leader
///   chosen before the round. If the two are equally fast, the shuffled order makes each as likely
///   as the other to meet a slow moment of the chip, whatever the noise, drift or clocks;
/// - by more than the clear margin is at most LossChances::clear, and by more than the gross margin
///   at most LossChances::gross. Unlike the first bound, these are assumptions about the noise:
///   samples of the best candidate are seldom that slow within a round. Rounds whose sentinel is
///   off are excluded from these two bets.
///
/// The probability that its admission sample exceeds the fastest of all admission samples by more
/// than the admission margin is at most LossChances::gross, and by more than the hopeless margin at
/// most LossChances::hopeless. Knowing the admission sample makes no later loss more likely. These
/// are assumptions too.
///
/// Each event is bet on with a share of the stake, at the odds of its probability. The stake is
/// split over bettors of different kind and boldness, so that a clear loser and a marginal one are
/// both found early. Under the hypothesis the stake is a supermartingale that starts at 1, so
/// P(it ever reaches 1 / p) <= p. No correction is needed for repeated looks, nor for the number of
/// candidates (only one is best). An admission loss may be found late, when a faster candidate
/// joins: the event refers to the fastest candidate at the end, and its bet counts as lost until
/// the loss is seen.
///
/// At a limit of 1 % and the default chances, each of these suffices: twelve losses in a row; four
/// clear losses at the start; two gross losses at the start; a gross loss at admission and one in
/// the first round; one hopeless loss.
///
/// Sources: J. Ville, Etude critique de la notion de collectif (1939), V; I. Waudby-Smith and
/// A. Ramdas, Estimating means of bounded random variables by betting, JRSS-B 86 (2024), section 4;
/// O. Maron and A. Moore, Hoeffding races, NIPS 6 (1993) for racing itself.
class LosingEvidence {
 public:
  explicit LosingEvidence(const LossChances& chances = {}) : chances_(chances) {}

  /// Adds the loss of one round. `on_noise`: whether clear and gross losses are bet on in this
  /// round.
  void add(Loss loss, bool on_noise = true);
  /// Replaces the earlier admission loss, which may become worse but never better.
  void set_admission(AdmissionLoss loss) { admission_ = std::max(admission_, loss); }
  /// The stake, which is 1 at the start. 1 / stake() is the probability bound p above.
  [[nodiscard]] double stake() const;

 private:
  static constexpr std::array kBoldness{0.1, 0.25, 0.5, 0.75, 0.95};

  LossChances chances_;
  AdmissionLoss admission_ = AdmissionLoss::unknown;
  std::array<double, kBoldness.size()> stakes_{1.0, 1.0, 1.0, 1.0, 1.0};
  double clear_stake_ = 1.0;
  double gross_stake_ = 1.0;
};

/// The settings that decide which candidates are sampled, and when to stop. Shares are fractions:
/// 0.005 is 0.5 %.
struct RacePolicy {
  Strategy strategy = Strategy::exhaustive;
  int repeats = 64;                ///< exhaustive: samples of each candidate
  std::uint64_t seed = 1;          ///< seeds the shuffled order within the rounds
  double confidence = 0.95;        ///< confidence of the reported intervals
  double target_ci = 0.005;        ///< half-width of the winner's interval, over its median
  std::optional<double> budget_s;  ///< limit for one problem, race and finals together
  /// The probability with which the best candidate may be dropped (see LosingEvidence).
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
  /// Seconds of launches of each turn of a sustained final (sustained_final.hpp); 0: there is none.
  double sustain_s = 0.0;
  double sustained_margin = 0.06;  ///< finalists are at most this much slower than the winner
  int most_sustained = 24;         ///< finalists, the winner included
  int most_sustained_twice = 6;    ///< finalists that are in the second round
};

/// Throws std::invalid_argument, which names the member, if a member is out of its range.
void check_policy(const RacePolicy& policy);

}  // namespace fatune
