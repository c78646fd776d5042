#include "race/evidence.hpp"

#include <gtest/gtest.h>

#include <random>

namespace fatune {
namespace {

int losses_until(double stake) {
  LosingEvidence evidence;
  int losses = 0;
  while (evidence.stake() < stake) {
    evidence.add(true);
    ++losses;
  }
  return losses;
}

TEST(LosingEvidence, StartsAtOneAndGrowsWithEveryLoss) {
  LosingEvidence evidence;
  EXPECT_DOUBLE_EQ(evidence.stake(), 1.0);
  evidence.add(true);
  EXPECT_DOUBLE_EQ(evidence.stake(), 1.51);  // 1 + the mean boldness
  EXPECT_EQ(losses_until(20), 6);
  EXPECT_EQ(losses_until(100), 9);
}

// Fair game: loss and win average to what was there before.
TEST(LosingEvidence, IsAMartingaleAtEvenOdds) {
  LosingEvidence lost;
  LosingEvidence won;
  for (const bool loss : {true, false, true, true}) {
    lost.add(loss);
    won.add(loss);
  }
  const double before = lost.stake();
  lost.add(true);
  won.add(false);
  EXPECT_NEAR((lost.stake() + won.stake()) / 2, before, 1e-12);
}

// Looked at after each of 1000 rounds, it cries wolf no more often than it says.
TEST(LosingEvidence, CrossesItsBoundNoMoreOftenThanPromised) {
  constexpr int kRaces = 2000;
  std::mt19937_64 random(7);
  std::bernoulli_distribution coin(0.5);
  int crossed = 0;
  for (int race = 0; race < kRaces; ++race) {
    LosingEvidence evidence;
    for (int round = 0; round < 1000; ++round) {
      evidence.add(coin(random));
      if (evidence.stake() >= 20) {
        ++crossed;
        break;
      }
    }
  }
  EXPECT_LT(crossed, kRaces * 0.05);
  EXPECT_GT(crossed, kRaces * 0.01);  // and the bound is not idle
}

}  // namespace
}  // namespace fatune
