// The guarantees of racing on chips that behave badly: the share of races that drop the best
// candidate is at most false_elimination, and the winner is as fast as the best.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>

#include "unit/race/simulation.hpp"

namespace fatune {
namespace {

using simulation::Chip;
using simulation::racing_policy;
using simulation::Random;
using simulation::run;

constexpr int kRaces = 100;
constexpr double kAllowed = 0.05;

struct BadChip {
  const char* name;
  Chip (*make)();
};

Chip heavy_tails() {
  Chip chip;
  chip.noise = simulation::spiky_noise(0.01);
  return chip;
}

Chip drift() {
  Chip chip;
  chip.noise = simulation::normal_noise(0.005);
  chip.state = [](std::int64_t n, Random&) {
    const auto at = static_cast<double>(n);
    return 1.0 + 0.1 * at / (at + 1000.0) + 0.02 * std::sin(at / 50.0);
  };
  return chip;
}

// The chip switches between two clocks 8 % apart. Each lasts about 30 samples, so that switches
// fall within rounds.
Chip two_clocks() {
  Chip chip;
  chip.noise = simulation::normal_noise(0.003);
  chip.state = [slow = false](std::int64_t, Random& random) mutable {
    slow = std::bernoulli_distribution(1.0 / 30)(random) ? !slow : slow;
    return slow ? 1.08 : 1.0;
  };
  return chip;
}

// The assumption about an unshared GPU: 2 % of the samples are slow, by a few per cent.
Chip rare_spikes() {
  Chip chip;
  chip.noise = [](Random& random) {
    const double spike = std::bernoulli_distribution(0.02)(random)
                             ? std::abs(std::cauchy_distribution<>(0.0, 0.03)(random))
                             : 0.0;
    return std::exp(std::normal_distribution<>(0.0, 0.005)(random)) + spike;
  };
  return chip;
}

// Short kernels: the timer's resolution is half a per cent of their time.
Chip coarse_timer() {
  Chip chip;
  chip.noise = [](Random& random) {
    const double exact = std::exp(std::normal_distribution<>(0.0, 0.01)(random));
    return std::round(exact * 200.0) / 200.0;
  };
  return chip;
}

class BadChips : public ::testing::TestWithParam<BadChip> {};

struct Tally {
  int best_dropped = 0;
  int bad_winner = 0;
  std::int64_t samples = 0;
};

// Runs kRaces races with different seeds. Candidate 0 is the best.
Tally race_often(const BadChip& bad, const std::vector<double>& true_us) {
  Tally tally;
  for (std::uint64_t seed = 1; seed <= kRaces; ++seed) {
    RacePolicy policy = racing_policy(seed);
    policy.false_elimination = kAllowed;
    policy.most_rounds = 192;
    const RaceResult result = run(policy, true_us, bad.make(), 7919 * seed);
    tally.best_dropped += static_cast<int>(result.standings[0].eliminated_in_round.has_value());
    tally.bad_winner +=
        static_cast<int>(true_us[simulation::winner_of(result)] > 1.005 * true_us[0]);
    tally.samples += result.samples_taken;
  }
  return tally;
}

// At a true rate of 5 %, 100 races exceed 11 in less than 0.5 % of cases.
constexpr int kMostDropped = 11;

TEST_P(BadChips, RarelyDropTheBestAmongItsEquals) {
  const Tally tally = race_often(GetParam(), std::vector<double>(6, 100.0));
  RecordProperty("best_dropped_of_100", tally.best_dropped);
  EXPECT_LE(tally.best_dropped, kMostDropped);
}

TEST_P(BadChips, NameAWinnerAsFastAsTheBest) {
  const Tally tally =
      race_often(GetParam(), {100, 100.3, 101, 101.5, 102, 103, 104, 106, 108, 110, 120, 150});
  RecordProperty("best_dropped_of_100", tally.best_dropped);
  RecordProperty("bad_winner_of_100", tally.bad_winner);
  RecordProperty("samples_per_race", static_cast<int>(tally.samples / kRaces));
  EXPECT_LE(tally.best_dropped, kMostDropped);
  EXPECT_LE(tally.bad_winner, 10);
}

// The promised rate is 1 %. With heavy tails it is 2 %, because they break the assumption about
// admission samples (1.3 % of them are 50 % slow).
TEST_P(BadChips, RarelyDropTheBestAtItsAdmissionOrByAGrossLoss) {
  int dropped = 0;
  for (std::uint64_t seed = 1; seed <= 2 * kRaces; ++seed) {
    const RaceResult result = simulation::run_admitted(
        racing_policy(seed), std::vector<double>(6, 100.0), GetParam().make(), 7919 * seed);
    dropped += static_cast<int>(result.standings[0].eliminated_in_round.has_value());
  }
  RecordProperty("best_dropped_of_200", dropped);
  EXPECT_LE(dropped, 10);  // a true rate of 2 % exceeds this in less than 0.5 % of cases
}

INSTANTIATE_TEST_SUITE_P(Race, BadChips,
                         ::testing::Values(BadChip{"heavy_tails", heavy_tails},
                                           BadChip{"drift", drift},
                                           BadChip{"two_clocks", two_clocks},
                                           BadChip{"rare_spikes", rare_spikes},
                                           BadChip{"coarse_timer", coarse_timer}),
                         [](const auto& chip) { return std::string(chip.param.name); });

// Forty configurations: six within 1 %, the others up to three times as slow.
std::vector<double> realistic_field(std::uint64_t seed) {
  Random random(seed);
  std::uniform_real_distribution<> behind(0.01, 2.0);
  std::vector<double> true_us{100, 100.2, 100.4, 100.6, 100.8, 101};
  while (true_us.size() < 40) {
    true_us.push_back(100.0 * (1.0 + behind(random)));
  }
  return true_us;
}

// The unit of cost is a sample of the best candidate. A round of all candidates costs 74, and 64
// rounds cost 4750.
TEST(RacingGuarantees, ARealisticProblemCostsLessThanTwoRounds) {
  constexpr int kProblems = 100;
  double cost = 0.0;
  double cost_of_rounds = 0.0;
  int bad_winner = 0;
  for (std::uint64_t seed = 1; seed <= kProblems; ++seed) {
    const std::vector<double> true_us = realistic_field(seed);
    const RaceResult result =
        simulation::run_admitted(racing_policy(seed), true_us, rare_spikes(), 7919 * seed);
    cost += 1e6 * result.elapsed_s / true_us[0] / kProblems;
    cost_of_rounds +=
        2 * std::accumulate(true_us.begin(), true_us.end(), 0.0) / true_us[0] / kProblems;
    bad_winner += static_cast<int>(true_us[simulation::winner_of(result)] > 1.005 * true_us[0]);
    EXPECT_FALSE(result.standings[0].eliminated_in_round);
  }
  RecordProperty("cost", std::to_string(cost));
  EXPECT_LT(cost, cost_of_rounds);
  EXPECT_LE(bad_winner, 2);
}

// Checks the reported intervals, with the effect of the finals and the stopping rules.
TEST(RacingGuarantees, IntervalsOfTheWinnerHoldItsTrueMedian) {
  int held = 0;
  for (std::uint64_t seed = 1; seed <= 800; ++seed) {
    Chip chip;
    chip.noise = simulation::normal_noise(0.01);
    const std::vector<double> true_us{100, 103, 106, 110};
    const RaceResult result = run(racing_policy(seed), true_us, chip, seed);
    const Timing& timing = result.standings[simulation::winner_of(result)].timing;
    const double truth = true_us[simulation::winner_of(result)];
    held += static_cast<int>(timing.median_low_us <= truth && truth <= timing.median_high_us);
  }
  RecordProperty("held_of_800", held);
  EXPECT_GE(held, 720);  // 90 %: stopping as soon as the interval is narrow costs some of the 95 %
}

}  // namespace
}  // namespace fatune
