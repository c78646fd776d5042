#pragma once

#include <array>
#include <cstddef>

namespace fatune {

/// A candidate's sample against the leader's of the same round.
enum class Loss {
  none,
  slight,  ///< slower by more than the margin
  clear,   ///< slower by more than the clear margin
  gross,   ///< slower by more than the gross margin
};

/// A candidate's admission sample against the fastest one.
enum class AdmissionLoss {
  unknown,   ///< one of them has none: no bet
  none,      ///< not slower by more than the admission margin
  gross,     ///< slower by more than that
  hopeless,  ///< slower by more than the hopeless margin
};

/// The greatest probabilities with which the best candidate has these losses.
struct LossChances {
  double clear = 1.0 / 5;
  double gross = 1.0 / 25;
  double hopeless = 1.0 / 1000;
};

/// Evidence that a candidate is not the best, which may be examined after every round.
///
/// Hypothesis: whatever the past, the chance that this candidate's sample exceeds the leader's of
/// the same round
///
/// - by more than the margin is at most 1/2. It holds for the best candidate against any leader
///   chosen before the round: when the two are alike, the shuffled order makes each as likely as
///   the other to meet a slow moment of the chip, whatever the noise, drift or clocks;
/// - by more than the clear margin is at most LossChances::clear, and by more than the gross margin
///   at most LossChances::gross. Unlike the first these are assumptions about the noise: samples of
///   one round, of the best candidate, are seldom that slow. Rounds whose sentinel is off are left
///   out of it.
///
/// For its admission sample, the chance that it exceeds the fastest of all admission samples by
/// more than the admission margin is at most LossChances::gross, and by more than the hopeless
/// margin at most LossChances::hopeless; knowing it makes no later loss more likely. These are
/// assumptions too.
///
/// Each event is bet on with a share of the stake, at the odds of its chance. The stake is split
/// over bettors of different kind and boldness, so that a clear loser and a marginal one are both
/// found early. Under the hypothesis the stake is a supermartingale that starts at 1, so that
/// P(it ever reaches 1 / p) <= p: no correction for repeated looks, none for the number of
/// candidates (there is one best). An admission loss may be found late, when a faster candidate
/// joins: the event is about the fastest in the end, and until it is seen its bet counts as lost.
///
/// At a limit of 1 % and the default chances any of these is enough: twelve losses in a row; four
/// clear ones at first; two gross ones at first; a gross loss at admission and one in the first
/// round; a hopeless one.
///
/// Sources: J. Ville, Etude critique de la notion de collectif (1939), V; I. Waudby-Smith and
/// A. Ramdas, Estimating means of bounded random variables by betting, JRSS-B 86 (2024), section 4;
/// O. Maron and A. Moore, Hoeffding races, NIPS 6 (1993) for racing itself.
class LosingEvidence {
 public:
  explicit LosingEvidence(const LossChances& chances = {}) : chances_(chances) {}

  /// Adds the loss of one round. `on_noise`: clear and gross losses are bet on in it.
  void add(Loss loss, bool on_noise = true);
  /// Replaces the earlier admission loss, which may become worse but never better.
  void set_admission(AdmissionLoss loss);
  /// 1 at first. 1 / stake() is the probability bound above.
  [[nodiscard]] double stake() const;

 private:
  static constexpr std::array kBoldness{0.1, 0.25, 0.5, 0.75, 0.95};

  LossChances chances_;
  AdmissionLoss admission_ = AdmissionLoss::unknown;
  std::array<double, kBoldness.size()> stakes_{1.0, 1.0, 1.0, 1.0, 1.0};
  double clear_stake_ = 1.0;
  double gross_stake_ = 1.0;
};

}  // namespace fatune
