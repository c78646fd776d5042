#include "race/race_policy.hpp"

#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

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

void require(bool holds, const char* rule) {
  if (!holds) {
    throw std::invalid_argument(std::string("race policy: ") + rule);
  }
}

bool is_share(double value) { return value > 0.0 && value < 1.0; }

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

void check_policy(const RacePolicy& policy) {
  require(policy.repeats >= 1, "repeats must be at least 1");
  require(is_share(policy.confidence), "confidence must be between 0 and 1");
  require(is_share(policy.target_ci) && is_share(policy.race_ci),
          "target_ci and race_ci must be between 0 and 1");
  require(is_share(policy.false_elimination), "false_elimination must be between 0 and 1");
  require(is_share(policy.sentinel_tolerance), "sentinel_tolerance must be between 0 and 1");
  require(policy.margin >= 0.0 && policy.margin < 1.0, "margin must be at least 0 and under 1");
  require(policy.clear_margin > policy.margin && policy.admission_margin > policy.margin,
          "clear_margin and admission_margin must be above margin");
  require(policy.gross_margin > policy.clear_margin, "gross_margin must be above clear_margin");
  require(policy.hopeless_margin >= policy.admission_margin,
          "hopeless_margin must be at least admission_margin");
  require(is_share(policy.chances.clear) && is_share(policy.chances.gross) &&
              is_share(policy.chances.hopeless),
          "chances must be between 0 and 1");
  require(policy.chances.gross <= policy.chances.clear,
          "chances.gross must not be above chances.clear");
  require(policy.chances.hopeless <= policy.chances.gross,
          "chances.hopeless must not be above chances.gross");
  require(!policy.budget_s || (*policy.budget_s > 0.0 && std::isfinite(*policy.budget_s)),
          "budget_s must be positive");
  require(policy.finals_budget_share >= 0.0 && policy.finals_budget_share < 1.0,
          "finals_budget_share must be at least 0 and under 1");
  require(policy.most_sample_retakes >= 0 && policy.most_round_retakes >= 0 &&
              policy.most_retaken_rounds >= 0,
          "numbers of retakes must not be negative");
  require(!policy.part_share || is_share(*policy.part_share), "part_share must be between 0 and 1");
  require(policy.most_finalists_after_part >= policy.most_finalists,
          "most_finalists_after_part must be at least most_finalists");
  require(policy.part_margin >= 0.0, "part_margin must not be negative");
  require(policy.sustain_s >= 0.0 && std::isfinite(policy.sustain_s),
          "sustain_s must not be negative");
  require(policy.most_part_samples >= policy.least_part_samples,
          "most_part_samples must be at least least_part_samples");
  require(policy.most_rounds >= 1 && policy.most_finalists >= 1 && policy.least_final_rounds >= 1 &&
              policy.least_race_samples >= 1 && policy.least_part_samples >= 1,
          "most_rounds, most_finalists, least_final_rounds, least_race_samples and "
          "least_part_samples must be at least 1");
}

}  // namespace fatune
