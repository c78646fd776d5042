#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/race/simulation.hpp"

namespace fatune {
namespace {

using simulation::Chip;
using simulation::join;
using simulation::run;
using ::testing::HasSubstr;

RacePolicy few_repeats() {
  RacePolicy policy;
  policy.repeats = 20;
  return policy;
}

TEST(InvalidSamples, AThrottledSampleIsRetakenAtTheEndOfTheRound) {
  Race race(few_repeats());
  for (int i = 0; i < 3; ++i) {
    join(race);
  }
  const std::size_t first = race.next(0).candidate.index;
  race.record(500, true);
  EXPECT_NE(race.next(0).candidate.index, first);
  race.record(100, false);
  race.record(100, false);
  EXPECT_EQ(race.next(0).candidate.index, first);
  race.record(100, false);
  static_cast<void>(race.next(0));
  const RaceResult result = race.result();
  EXPECT_EQ(result.samples_retaken, 1);
  EXPECT_EQ(result.standings[first].timing.samples_us, std::vector<double>{100});
  EXPECT_TRUE(result.standings[first].warnings.empty());
}

TEST(InvalidSamples, EndlessThrottlingEndsInWarningsNotInEmptyRows) {
  Chip chip;
  chip.throttled = [](std::int64_t) { return true; };
  const RaceResult result = run(few_repeats(), {100, 110}, chip, 1);
  EXPECT_EQ(result.samples_taken, 2 * 20 * 4);  // each is retaken three times
  for (const Standing& candidate : result.standings) {
    EXPECT_EQ(candidate.timing.samples_us.size(), 20u);
    ASSERT_EQ(candidate.warnings.size(), 1u);
    EXPECT_THAT(candidate.warnings[0], HasSubstr("20 samples were taken while"));
  }
}

// The chip is slow for 4 samples of a race of two. The rounds that they fall into are repeated.
TEST(InvalidSamples, ARoundWhoseSentinelIsOffIsRetaken) {
  Chip chip;
  chip.state = [](std::int64_t n, auto&) { return n >= 20 && n < 24 ? 1.5 : 1.0; };
  const RaceResult result = run(few_repeats(), {100, 110}, chip, 1);
  EXPECT_EQ(result.rounds, 20);
  EXPECT_EQ(result.samples_retaken, 4);
  for (const Standing& candidate : result.standings) {
    EXPECT_EQ(candidate.timing.min_us, candidate.timing.max_us);
    EXPECT_TRUE(candidate.warnings.empty());
  }
}

// Candidate 3 is the sentinel because of its first sample, and 0 leads. Candidate 9 joins when the
// chip's speed jumps. It is grossly slower than 0 twice, in rounds that are repeated because the
// sentinel is off.
TEST(InvalidSamples, GrossLossesDoNotCountInARoundThatIsOff) {
  Race race(simulation::racing_policy());
  for (int i = 0; i < 9; ++i) {
    join(race);
  }
  while (race.next(0).kind == Step::Kind::sample) {
    race.record(race.next(0).candidate.index == 3 && race.result().rounds == 0 ? 99 : 100, false);
  }
  ASSERT_EQ(race.result().sentinel_id, std::optional(CandidateId{3}));
  ASSERT_GE(race.result().rounds, 5);
  const std::size_t late = join(race, 100).index;
  race.close();
  for (int i = 0; i < 20; ++i) {
    const std::size_t candidate = race.next(0).candidate.index;
    race.record(candidate == 3 ? 110 : candidate == late ? 106 : 100, false);
  }
  const RaceResult result = run(race, std::vector<double>(10, 100.0), {}, 1);
  EXPECT_EQ(result.samples_retaken, 20);
  EXPECT_FALSE(result.standings[late].eliminated_in_round);
}

TEST(InvalidSamples, ALastingChangeIsAcceptedWithAWarning) {
  Chip chip;
  chip.state = [](std::int64_t n, auto&) { return n >= 20 ? 1.2 : 1.0; };
  const RaceResult result = run(few_repeats(), {100, 110}, chip, 1);
  EXPECT_EQ(result.rounds, 20);
  EXPECT_LE(result.samples_retaken, 2 * 16);
  ASSERT_FALSE(result.standings[0].warnings.empty());
  EXPECT_THAT(result.standings[0].warnings[0], HasSubstr("unusually fast or slow"));
  EXPECT_EQ(result.standings[0].timing.samples_us.size(), 20u);
}

TEST(InvalidSamples, RetakenRoundsAreBoundedOverTheWholeRace) {
  Chip chip;  // alternates by 10 % for ever
  chip.state = [](std::int64_t n, auto&) { return n % 2 == 0 ? 1.1 : 1.0; };
  RacePolicy policy;
  const RaceResult result = run(policy, {100}, chip, 1);
  EXPECT_LE(result.samples_retaken, policy.most_retaken_rounds);
  EXPECT_EQ(result.standings[0].timing.samples_us.size(), 64u);
}

}  // namespace
}  // namespace fatune
