#include "race/evidence.hpp"

#include <algorithm>
#include <numeric>

namespace fatune {
namespace {

// The split of the stake. At the default chances a hopeless loss turns its share into 100: 0.1 *
// 1000. Two gross losses turn either of their shares into 102: 0.18 * 23.8 * 23.8. Four clear
// losses turn theirs into 99.6, 0.32 * 4.2^4, and the bets at even odds (coins) add the rest.
constexpr double kCoinShare = 0.22;
constexpr double kClearShare = 0.32;
constexpr double kGrossShare = 0.18;          // bets on rounds alone
constexpr double kGrossAdmittedShare = 0.18;  // bets on the admission first, then on rounds
constexpr double kHopelessShare = 0.10;       // bets on the admission alone
constexpr double kClearBoldness = 0.8;
constexpr double kGrossBoldness = 0.95;

// The factor by which a stake changes when a share of it, `boldness`, is bet on an event at the
// odds of its probability.
double payout(bool happened, double boldness, double chance) {
  return happened ? 1.0 + boldness * (1.0 / chance - 1.0) : 1.0 - boldness;
}

}  // namespace

void LosingEvidence::add(Loss loss, bool on_noise) {
  for (std::size_t i = 0; i < stakes_.size(); ++i) {
    stakes_[i] *= payout(loss != Loss::none, kBoldness[i], 0.5);
  }
  if (on_noise) {
    clear_stake_ *= payout(loss >= Loss::clear, kClearBoldness, chances_.clear);
    gross_stake_ *= payout(loss == Loss::gross, kGrossBoldness, chances_.gross);
  }
}

void LosingEvidence::set_admission(AdmissionLoss loss) { admission_ = std::max(admission_, loss); }

double LosingEvidence::stake() const {
  const double coins =
      std::accumulate(stakes_.begin(), stakes_.end(), 0.0) / static_cast<double>(stakes_.size());
  double admitted = 1.0;
  double hopeless = 1.0;
  if (admission_ != AdmissionLoss::unknown) {
    admitted = payout(admission_ >= AdmissionLoss::gross, kGrossBoldness, chances_.gross);
    hopeless = payout(admission_ == AdmissionLoss::hopeless, 1.0, chances_.hopeless);
  }
  return kCoinShare * coins + kClearShare * clear_stake_ + kGrossShare * gross_stake_ +
         kGrossAdmittedShare * admitted * gross_stake_ + kHopelessShare * hopeless;
}

}  // namespace fatune
