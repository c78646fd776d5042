// Which of several configurations is kept, by the times of a caller's own launches.
#include "runtime/trial_rounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>
#include <vector>

namespace fatune_attention::detail {
namespace {

/// The time of a candidate's launch in a round.
using TimeOf = std::function<double(int candidate, int round)>;

struct Outcome {
  int winner = -1;
  int launches = 0;
  std::vector<std::set<int>> launched;  ///< by round
};

Outcome run(int candidates, const TimeOf& time_of) {
  TrialRounds rounds(candidates);
  Outcome outcome;
  for (int round = 0; !rounds.ended(); ++round) {
    std::vector<int> order;
    for (int next = rounds.next(); next >= 0; next = rounds.next()) {
      order.push_back(next);
      rounds.launched();
    }
    EXPECT_EQ(rounds.counts(), round > 0);
    for (const int candidate : order) {
      EXPECT_TRUE(rounds.is_left(candidate));
      rounds.set_time(candidate, time_of(candidate, round));
    }
    outcome.launches += static_cast<int>(order.size());
    outcome.launched.emplace_back(order.begin(), order.end());
    EXPECT_EQ(outcome.launched.back().size(), order.size()) << "each once";
    rounds.end_round();
  }
  outcome.winner = rounds.fastest();
  return outcome;
}

TEST(TrialRounds, OfOneCandidateAreNone) {
  const TrialRounds rounds(1);
  EXPECT_TRUE(rounds.ended());
  EXPECT_EQ(rounds.fastest(), 0);
}

TEST(TrialRounds, FindTheFastest) {
  for (int fastest = 0; fastest < 4; ++fastest) {
    const Outcome outcome =
        run(4, [&](int candidate, int) { return candidate == fastest ? 95.0 : 100.0; });
    EXPECT_EQ(outcome.winner, fastest);
  }
}

TEST(TrialRounds, PreferTheFirstUnlessAnotherIsFasterForSure) {
  EXPECT_EQ(run(2, [](int candidate, int) { return candidate == 1 ? 99.5 : 100.0; }).winner, 0);
  EXPECT_EQ(run(2, [](int candidate, int) { return candidate == 1 ? 98.0 : 100.0; }).winner, 1);
}

TEST(TrialRounds, DoNotCountTheFirstRound) {
  const Outcome outcome = run(3, [](int candidate, int round) {
    return round == 0 ? (candidate == 1 ? 5000.0 : 100.0) : (candidate == 1 ? 90.0 : 100.0);
  });
  EXPECT_EQ(outcome.winner, 1);
}

TEST(TrialRounds, LeaveOutWhatIsFarBehind) {
  const Outcome outcome = run(3, [](int candidate, int) { return 100.0 + 20.0 * candidate; });
  ASSERT_GE(outcome.launched.size(), 2U);
  EXPECT_EQ(outcome.launched[1].size(), 3U);
  EXPECT_EQ(outcome.launched.size(), 2U) << "nothing is left to compare with the first";
  EXPECT_EQ(outcome.winner, 0);
}

TEST(TrialRounds, LaunchEachAtMostOnceInARoundAndEnd) {
  const Outcome outcome = run(kMostCandidates, [](int, int) { return 100.0; });
  EXPECT_EQ(outcome.launches, kMostCandidates * TrialRounds::kRounds);
  EXPECT_EQ(outcome.winner, 0);
}

TEST(TrialRounds, CompareTimesOfOneRoundWithEachOther) {
  // Keys become more from call to call, so that later rounds take longer.
  const Outcome outcome = run(4, [](int candidate, int round) {
    return (100.0 + 50.0 * round) * (candidate == 2 ? 0.96 : 1.0);
  });
  EXPECT_EQ(outcome.winner, 2);
}

TEST(TrialRounds, AreNotMisledByOneLongTime) {
  const Outcome outcome = run(4, [](int candidate, int round) {
    const double us = candidate == 3 ? 93.0 : 100.0;
    return candidate == 3 && round == 3 ? 400.0 : us;
  });
  EXPECT_EQ(outcome.winner, 3);
}

TEST(TrialRounds, LoseLittleWhereTimesAreNoisy) {
  std::mt19937 generator(1);
  std::normal_distribution<double> noise(1.0, 0.02);
  double lost = 0.0;
  constexpr int kTrials = 500;
  for (int i = 0; i < kTrials; ++i) {
    std::vector<double> us;
    for (int c = 0; c < kMostCandidates; ++c) {
      us.push_back(100.0 * (1.0 + 0.06 * (noise(generator) - 1.0) / 0.02));
    }
    const Outcome outcome = run(kMostCandidates, [&](int candidate, int) {
      return us[static_cast<std::size_t>(candidate)] * noise(generator);
    });
    lost += us[static_cast<std::size_t>(outcome.winner)] / *std::min_element(us.begin(), us.end()) -
            1.0;
  }
  EXPECT_LT(lost / kTrials, 0.006);
}

}  // namespace
}  // namespace fatune_attention::detail
