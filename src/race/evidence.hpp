#pragma once

#include <array>
#include <cstddef>

namespace fatune {

/// Evidence that a candidate is not the best, which may be looked at after every round.
///
/// Hypothesis: whatever the past, the chance that this candidate's sample exceeds the leader's of
/// the same round by more than the margin is at most 1/2. It holds for the best candidate against
/// any leader chosen before the round: when the two are alike, the shuffled order makes each as
/// likely as the other to meet a slow moment of the chip, whatever the noise, drift or clocks.
///
/// Each round bets a share of the stake, at even odds, that the candidate loses; the stake is split
/// over bettors of different boldness, so that a clear loser and a marginal one are both found
/// early. Under the hypothesis the stake is a supermartingale that starts at 1, so that
/// P(it ever reaches 1 / p) <= p: no correction for repeated looks, none for the number of
/// candidates (there is one best), and nothing assumed about the distribution of times.
///
/// Sources: J. Ville, Etude critique de la notion de collectif (1939), V; I. Waudby-Smith and
/// A. Ramdas, Estimating means of bounded random variables by betting, JRSS-B 86 (2024), section 4;
/// O. Maron and A. Moore, Hoeffding races, NIPS 6 (1993) for racing itself.
class LosingEvidence {
 public:
  /// `lost`: the candidate was slower than the round's leader by more than the margin.
  void add(bool lost);
  /// 1 at first. 1 / stake() is the probability bound above.
  [[nodiscard]] double stake() const;

 private:
  static constexpr std::array kBoldness{0.1, 0.25, 0.5, 0.75, 0.95};
  std::array<double, kBoldness.size()> stakes_{1.0, 1.0, 1.0, 1.0, 1.0};
};

}  // namespace fatune
