#include "race/race_policy.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace fatune {
namespace {

constexpr LossChances kChances;

int losses_until(double stake) {
  LosingEvidence evidence;
  int losses = 0;
  while (evidence.stake() < stake) {
    evidence.add(Loss::slight);
    ++losses;
  }
  return losses;
}

double stake_after(AdmissionLoss admission, const std::vector<Loss>& losses) {
  LosingEvidence evidence;
  evidence.set_admission(admission);
  for (const Loss loss : losses) {
    evidence.add(loss);
  }
  return evidence.stake();
}

TEST(LosingEvidence, StartsAtOneAndGrowsWithSlightLossesInTheEnd) {
  EXPECT_DOUBLE_EQ(LosingEvidence().stake(), 1.0);
  EXPECT_EQ(losses_until(20), 9);
  EXPECT_EQ(losses_until(100), 12);
}

TEST(LosingEvidence, TwoGrossLossesAreEnoughAndOneIsNot) {
  using enum Loss;
  EXPECT_GE(stake_after(AdmissionLoss::unknown, {gross, gross}), 100);
  EXPECT_GE(stake_after(AdmissionLoss::none, {gross, gross}), 100);
  EXPECT_GE(stake_after(AdmissionLoss::gross, {gross}), 100);
  EXPECT_LT(stake_after(AdmissionLoss::unknown, {gross}), 20);
  EXPECT_LT(stake_after(AdmissionLoss::none, {gross}), 20);
  EXPECT_LT(stake_after(AdmissionLoss::gross, {}), 20);
  EXPECT_LT(stake_after(AdmissionLoss::gross, {slight, slight}), 20);
}

TEST(LosingEvidence, FourClearLossesAreEnoughAndThreeAreNot) {
  using enum Loss;
  EXPECT_GE(stake_after(AdmissionLoss::unknown, {clear, clear, clear, clear}), 100);
  EXPECT_GE(stake_after(AdmissionLoss::none, {clear, clear, clear, clear}), 100);
  EXPECT_LT(stake_after(AdmissionLoss::none, {clear, clear, clear}), 50);
}

TEST(LosingEvidence, AHopelessAdmissionIsEnough) {
  EXPECT_GE(stake_after(AdmissionLoss::hopeless, {}), 100);
}

TEST(LosingEvidence, AnAdmissionLossCountsTheSameWhenItIsFoundLateAndIsNotTakenBack) {
  LosingEvidence late;
  late.set_admission(AdmissionLoss::none);
  late.add(Loss::slight);
  late.set_admission(AdmissionLoss::gross);
  EXPECT_DOUBLE_EQ(late.stake(), stake_after(AdmissionLoss::gross, {Loss::slight}));
  late.set_admission(AdmissionLoss::none);
  EXPECT_DOUBLE_EQ(late.stake(), stake_after(AdmissionLoss::gross, {Loss::slight}));
}

TEST(LosingEvidence, WhereTheNoiseIsNotBetOnLossesAreSlightOnes) {
  LosingEvidence evidence;
  evidence.add(Loss::gross, false);
  LosingEvidence same;
  same.add(Loss::slight, false);
  EXPECT_DOUBLE_EQ(evidence.stake(), same.stake());
  EXPECT_LT(evidence.stake(), 2);
}

// The game is fair: the mean stake after a round is the stake before it.
TEST(LosingEvidence, IsAMartingaleAtTheOddsOfTheChances) {
  const auto after = [](std::vector<Loss> losses, Loss next) {
    losses.push_back(next);
    return stake_after(AdmissionLoss::gross, losses);
  };
  for (const std::vector<Loss>& past : {std::vector<Loss>{},
                                        {Loss::slight, Loss::none},
                                        {Loss::gross, Loss::slight, Loss::slight}}) {
    const double mean = 0.5 * after(past, Loss::none) +
                        (0.5 - kChances.clear) * after(past, Loss::slight) +
                        (kChances.clear - kChances.gross) * after(past, Loss::clear) +
                        kChances.gross * after(past, Loss::gross);
    EXPECT_NEAR(mean, stake_after(AdmissionLoss::gross, past), 1e-9);
  }
  const double mean = (1 - kChances.gross) * stake_after(AdmissionLoss::none, {}) +
                      (kChances.gross - kChances.hopeless) * stake_after(AdmissionLoss::gross, {}) +
                      kChances.hopeless * stake_after(AdmissionLoss::hopeless, {});
  EXPECT_NEAR(mean, 1.0, 1e-12);
}

Loss draw_loss(std::mt19937_64& random) {
  const double drawn = std::uniform_real_distribution<>()(random);
  return drawn < kChances.gross   ? Loss::gross
         : drawn < kChances.clear ? Loss::clear
         : drawn < 0.5            ? Loss::slight
                                  : Loss::none;
}

AdmissionLoss draw_admission(std::mt19937_64& random) {
  const double drawn = std::uniform_real_distribution<>()(random);
  return drawn < kChances.hopeless ? AdmissionLoss::hopeless
         : drawn < kChances.gross  ? AdmissionLoss::gross
                                   : AdmissionLoss::none;
}

// The stake is checked after each of 300 rounds, with losses as frequent as the hypothesis allows.
// False alarms are no more frequent than promised.
TEST(LosingEvidence, CrossesItsBoundNoMoreOftenThanPromised) {
  constexpr int kRaces = 4000;
  std::mt19937_64 random(7);
  int crossed = 0;
  for (int race = 0; race < kRaces; ++race) {
    LosingEvidence evidence;
    evidence.set_admission(draw_admission(random));
    for (int round = 0; round < 300 && evidence.stake() < 20; ++round) {
      evidence.add(draw_loss(random));
    }
    crossed += static_cast<int>(evidence.stake() >= 20);
  }
  EXPECT_LT(crossed, kRaces * 0.05);
  EXPECT_GT(crossed, kRaces * 0.005);  // the bound is not vacuous
}

}  // namespace
}  // namespace fatune
