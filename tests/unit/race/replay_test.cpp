// A caller that was killed resumes: it replays its journal to a new race.
#include <gtest/gtest.h>

#include <vector>

#include "unit/race/simulation.hpp"

namespace fatune {
namespace {

using simulation::Random;

// An event, and the elapsed_s of the last next() before it.
struct Event {
  enum class Kind { admit, record, withdraw, close };
  Kind kind = Kind::close;
  double elapsed_s = 0.0;
  CandidateId candidate{};  // the one that is admitted, sampled or withdrawn
  double time_us = 0.0;
  bool throttled = false;
};

void tell(Race& race, const Event& event) {
  switch (event.kind) {
    case Event::Kind::admit:
      race.admit(event.candidate, event.time_us);
      break;
    case Event::Kind::record:
      race.record(event.time_us, event.throttled);
      break;
    case Event::Kind::withdraw:
      race.withdraw(event.candidate);
      break;
    case Event::Kind::close:
      race.close();
      break;
  }
}

RacePolicy policy_of_replay(std::uint64_t seed) {
  RacePolicy policy = simulation::racing_policy(11);
  if (seed % 2 == 0) {
    policy.part_share = 0.5;
  }
  policy.budget_s = 0.02;  // runs out in the finals
  policy.target_ci = 1e-4;
  return policy;
}

// A race, the events that it was told, and its result after each event.
struct Journal {
  explicit Journal(const RacePolicy& policy) : race(policy) {}

  Race race;
  double elapsed_s = 0.0;
  std::vector<Event> events;
  std::vector<RaceResult> results;

  void happened(Event event) {
    event.elapsed_s = elapsed_s;
    events.push_back(event);
    tell(race, event);
    results.push_back(race.result());
  }
};

double true_us(std::size_t id) { return 100.0 + 1.0 * static_cast<double>(id); }

// Runs a race with everything that can happen to it: late candidates, throttling, a slow spell, a
// withdrawal, and repeated calls of next().
Journal eventful_race(std::uint64_t seed) {
  constexpr std::size_t kCandidates = 20;
  using Kind = Event::Kind;
  Random random(seed);
  std::bernoulli_distribution coin(0.5);
  const auto noise = simulation::normal_noise(0.01);
  Journal journal(policy_of_replay(seed));
  std::size_t admitted = 0;
  const int withdrawn_at = std::uniform_int_distribution(50, 350)(random);
  double now_s = 0.0;
  for (int n = 0; n < 2000; ++n) {
    if (admitted < kCandidates && coin(random)) {
      journal.happened({.kind = Kind::admit,
                        .candidate = {admitted},
                        .time_us = true_us(admitted) * noise(random)});
      if (++admitted == kCandidates) {
        journal.happened({.kind = Kind::close});
      }
    }
    Step step;
    do {
      step = journal.race.next(journal.elapsed_s = now_s);
    } while (coin(random));
    if (step.kind == Step::Kind::finished) {
      break;
    }
    if (step.kind == Step::Kind::sample && coin(random)) {
      const double state = n > 150 && n < 200 ? 1.2 : 1.0;
      const double extent = step.on_part ? 0.5 : 1.0;
      const double time_us = true_us(step.candidate.index) * extent * state * noise(random);
      journal.happened({.kind = Kind::record,
                        .candidate = step.candidate,
                        .time_us = time_us,
                        .throttled = n % 17 == 0});
      now_s += 1e-6 * time_us;
    }
    if (n == withdrawn_at) {
      journal.happened({.kind = Kind::withdraw, .candidate = {0}});
    }
  }
  return journal;
}

void expect_same(const RaceResult& a, const RaceResult& b) {
  EXPECT_EQ(a.samples_taken, b.samples_taken);
  EXPECT_EQ(a.samples_retaken, b.samples_retaken);
  EXPECT_EQ(a.rounds, b.rounds);
  EXPECT_EQ(a.part_rounds, b.part_rounds);
  EXPECT_EQ(a.final_rounds, b.final_rounds);
  EXPECT_EQ(a.sentinel_id, b.sentinel_id);
  EXPECT_EQ(a.drift_percent, b.drift_percent);
  EXPECT_EQ(a.elapsed_s, b.elapsed_s);
  EXPECT_EQ(a.stopped_because, b.stopped_because);
  ASSERT_EQ(a.standings.size(), b.standings.size());
  for (std::size_t i = 0; i < a.standings.size(); ++i) {
    EXPECT_EQ(a.standings[i].timing.samples_us, b.standings[i].timing.samples_us);
    EXPECT_EQ(a.standings[i].part_share, b.standings[i].part_share);
    EXPECT_EQ(a.standings[i].place, b.standings[i].place);
    EXPECT_EQ(a.standings[i].tie_group, b.standings[i].tie_group);
    EXPECT_EQ(a.standings[i].eliminated_in_round, b.standings[i].eliminated_in_round);
    EXPECT_EQ(a.standings[i].warnings, b.standings[i].warnings);
  }
}

TEST(Replay, TheJournalHoldsWhatItIsMeantTo) {
  const RaceResult result = eventful_race(3).race.result();
  EXPECT_EQ(result.stopped_because, StopReason::budget);
  EXPECT_GT(result.final_rounds, 0);
  EXPECT_GT(result.samples_retaken, 10);
  EXPECT_EQ(result.standings[0].place, 0);
}

// After every event, the new race has the old one's result, so it continues as the old one would
// have.
TEST(Replay, TheEventsAloneGiveTheSameRace) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Journal journal = eventful_race(seed);
    Race resumed(policy_of_replay(seed));
    for (std::size_t i = 0; i < journal.events.size(); ++i) {
      const Event& event = journal.events[i];
      const Step step = resumed.next(event.elapsed_s);
      if (event.kind == Event::Kind::record) {
        ASSERT_EQ(step.kind, Step::Kind::sample) << "seed " << seed << ", event " << i;
        ASSERT_EQ(step.candidate, event.candidate) << "seed " << seed << ", event " << i;
      }
      tell(resumed, event);
      expect_same(resumed.result(), journal.results[i]);
      ASSERT_FALSE(HasFailure()) << "seed " << seed << ", event " << i;
    }
  }
}

// Candidate 0 is withdrawn when the race is about to enter the finals between 0 and 1. Whether it
// has entered them must make no difference.
TEST(Replay, AWithdrawalIsTheSameWhetherNextWasAskedBeforeItOrNot) {
  RacePolicy policy = simulation::racing_policy();
  policy.most_finalists = 2;
  std::vector<RaceResult> results;
  for (const bool asked : {false, true}) {
    Race race(policy);
    for (const double time_us : {100.0, 100.01, 100.02}) {
      simulation::join(race, time_us);
    }
    race.close();
    while (race.result().rounds < 6) {
      race.record(100.0 + 0.01 * static_cast<double>(race.next(0).candidate.index), false);
    }
    if (asked) {
      static_cast<void>(race.next(0));
    }
    race.withdraw({0});
    results.push_back(simulation::run(race, {100, 100.01, 100.02}, {}, 1));
  }
  expect_same(results[0], results[1]);
}

}  // namespace
}  // namespace fatune
