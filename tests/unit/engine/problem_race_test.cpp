#include "engine/problem_race.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <ranges>
#include <stdexcept>

#include "unit/engine/recording_log.hpp"
#include "unit/engine/scripted_measurer.hpp"

namespace fatune {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

using Kind = JournalEvent::Kind;
using Parts = std::map<std::string, ScriptedMeasurer::Part>;

MeasurePolicy policy_of(Strategy strategy) {
  MeasurePolicy policy;
  policy.strategy = strategy;
  policy.repeats = 5;
  return policy;
}

/// Candidates with these times and the labels "a", "b", ...
Parts field_of(const std::vector<double>& times_us) {
  Parts parts;
  char label = 'a';
  for (const double time_us : times_us) {
    parts[std::string(1, label++)].us = time_us;
  }
  return parts;
}

/// Ten candidates that are close, and two that are far behind.
Parts field() { return field_of({100, 100.4, 101, 101.5, 102, 103, 104, 106, 108, 110, 130, 300}); }

/// One race with its measurer and its log.
struct OneRace {
  explicit OneRace(Strategy strategy = Strategy::race, Parts parts = field(),
                   std::optional<double> budget_s = std::nullopt)
      : OneRace(policy_of(strategy), std::move(parts), budget_s) {}
  OneRace(const MeasurePolicy& policy, Parts parts, std::optional<double> budget_s = std::nullopt)
      : OneRace(policy, std::move(parts), RaceTerms{budget_s, std::nullopt}) {}
  OneRace(const MeasurePolicy& policy, Parts parts, const RaceTerms& terms)
      : measurer(policy, std::move(parts)),
        race(measurer, terms, log),
        has_part(terms.part_share.has_value()) {}

  [[nodiscard]] CandidateKernel kernel_of(const std::string& label) const {
    CandidateKernel kernel = scripted_kernel(label);
    if (has_part) {
      kernel.part_geometry = kernel.geometry;
      kernel.part_geometry->grid[0] = 2;
      kernel.part_tail = part_tail;
    }
    return kernel;
  }

  [[nodiscard]] std::vector<std::string> labels() const {
    std::vector<std::string> labels;
    for (const auto& [label, part] : measurer.parts_) {
      labels.push_back(label);
    }
    return labels;
  }
  std::optional<Outcome> admit(const std::string& label) {
    const auto all = labels();
    const auto place = std::find(all.begin(), all.end(), label) - all.begin();
    return race.admit({static_cast<std::size_t>(place)}, kernel_of(label));
  }
  void admit_all() {
    for (const std::string& label : labels()) {
      EXPECT_FALSE(admit(label)) << label;
    }
  }
  void work_to_the_end() {
    race.close();
    while (race.work()) {
    }
  }
  Evaluation whole() {
    admit_all();
    work_to_the_end();
    return race.finish();
  }
  /// Resumes after these events of an earlier run. Returns false if they cannot be used.
  bool resume(std::vector<JournalEvent> events) {
    std::vector<ResumedCandidate> candidates;
    const auto all = labels();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool admitted = std::any_of(events.begin(), events.end(), [&](const auto& event) {
        return event.kind == Kind::admitted && event.config == all[i];
      });
      if (admitted) {
        candidates.push_back({{i}, kernel_of(all[i])});
      }
      measurer.next_sample +=
          static_cast<int>(std::count_if(events.begin(), events.end(), [&](const auto& event) {
            return event.kind == Kind::sample && event.config == all[i];
          }));
    }
    log.events = events;
    return race.resume(events, candidates);
  }

  RecordingLog log;
  ScriptedMeasurer measurer;
  ProblemRace race;
  bool has_part;
  PartTail part_tail{};  ///< of each candidate
};

const CandidateOutcome& result_at(const Evaluation& evaluation, int place) {
  const auto found = std::find_if(evaluation.results.begin(), evaluation.results.end(),
                                  [&](const auto& result) { return result.place == place; });
  if (found == evaluation.results.end()) {
    throw std::runtime_error("nobody has place " + std::to_string(place));
  }
  return *found;
}

const CandidateOutcome& result_of(const Evaluation& evaluation, CandidateId candidate) {
  return *std::find_if(evaluation.results.begin(), evaluation.results.end(),
                       [&](const auto& result) { return result.candidate == candidate; });
}

/// Expects the evaluations to be equal in all but the time that they took.
void expect_same(const Evaluation& a, const Evaluation& b) {
  ASSERT_EQ(a.results.size(), b.results.size());
  for (std::size_t i = 0; i < a.results.size(); ++i) {
    EXPECT_EQ(a.results[i].candidate, b.results[i].candidate);
    EXPECT_EQ(a.results[i].place, b.results[i].place);
    EXPECT_EQ(a.results[i].tie_group, b.results[i].tie_group);
    ASSERT_EQ(outcome_name(a.results[i].outcome), outcome_name(b.results[i].outcome));
    if (const auto* measured = std::get_if<Measured>(&a.results[i].outcome)) {
      const auto& other = std::get<Measured>(b.results[i].outcome);
      EXPECT_EQ(measured->timing.samples_us, other.timing.samples_us);
      EXPECT_EQ(measured->timing.warnings, other.timing.warnings);
      EXPECT_EQ(measured->verification.method, other.verification.method);
    }
  }
  ASSERT_TRUE(a.summary && b.summary);
  EXPECT_EQ(a.summary->stopped_because, b.summary->stopped_because);
  EXPECT_EQ(a.summary->rounds, b.summary->rounds);
  EXPECT_EQ(a.summary->final_rounds, b.summary->final_rounds);
  EXPECT_EQ(a.summary->samples_taken, b.summary->samples_taken);
  EXPECT_EQ(a.summary->samples_retaken, b.summary->samples_retaken);
  EXPECT_EQ(a.summary->sentinel, b.summary->sentinel);
  EXPECT_EQ(a.conditions.has_value(), b.conditions.has_value());
}

TEST(ProblemRace, RanksTheFastestFirst) {
  OneRace run;
  const Evaluation evaluation = run.whole();
  ASSERT_THAT(evaluation.results, SizeIs(12));
  EXPECT_EQ(result_at(evaluation, 1).candidate, CandidateId{0});
  EXPECT_EQ(result_at(evaluation, 12).candidate, CandidateId{11});
  const auto& best = std::get<Measured>(result_at(evaluation, 1).outcome);
  EXPECT_NEAR(best.timing.median_us, 100.0, 0.5);
  EXPECT_EQ(best.verification.method, "scripted a");
  ASSERT_TRUE(evaluation.summary);
  EXPECT_EQ(evaluation.summary->stopped_because, StopReason::target);
  EXPECT_EQ(evaluation.summary->samples_taken, run.measurer.call_count("sample"));
  EXPECT_THAT(run.labels(), Contains(evaluation.summary->sentinel));
  EXPECT_FALSE(evaluation.conditions);
}

// Samples of one round must be marked as such, so that pairs have the same inputs.
TEST(ProblemRace, SamplesOfOneRoundAreAskedForAsSuch) {
  OneRace run;
  const Evaluation evaluation = run.whole();
  const std::vector<int>& rounds = run.measurer.rounds;
  EXPECT_TRUE(std::is_sorted(rounds.begin(), rounds.end()));
  EXPECT_EQ(rounds.front(), 0);
  EXPECT_EQ(rounds.back(), evaluation.summary->rounds + evaluation.summary->final_rounds - 1);
  EXPECT_GT(std::count(rounds.begin(), rounds.end(), 0), 1);
}

TEST(ProblemRace, SaysWhoseOutputsDiffer) {
  OneRace run;
  run.measurer.parts_["b"].differs_from_sample = 2;
  const Evaluation evaluation = run.whole();
  EXPECT_TRUE(std::get<Measured>(result_of(evaluation, {0}).outcome).verification.deterministic);
  EXPECT_FALSE(std::get<Measured>(result_of(evaluation, {1}).outcome).verification.deterministic);
  const auto told =
      std::count_if(run.log.events.begin(), run.log.events.end(), [](const JournalEvent& event) {
        return event.kind == Kind::sample && event.verification.has_value();
      });
  EXPECT_EQ(told, 1) << "for the run that goes on with this one";
}

TEST(ProblemRace, TheOneFarBehindIsOutAtItsAdmission) {
  OneRace run;
  const Evaluation evaluation = run.whole();
  EXPECT_THAT(run.measurer.calls, Not(Contains("sample l")));
  const auto& last = std::get<Measured>(result_of(evaluation, {11}).outcome);
  EXPECT_THAT(last.timing.samples_us, ElementsAre(300.0));
}

TEST(ProblemRace, TheJournalHasWhatTheRaceWasToldInItsOrder) {
  OneRace run;
  static_cast<void>(run.whole());
  std::vector<std::string> told;
  double elapsed_s = 0.0;
  for (const JournalEvent& event : run.log.events) {
    if (event.kind == Kind::admitted) {
      told.push_back("admit " + event.config);
      EXPECT_EQ(event.artifact_key, "key of " + event.config);
      EXPECT_EQ(event.launch.grid[0], 7);
      EXPECT_EQ(event.us, run.measurer.parts_.at(event.config).us);
      EXPECT_EQ(event.verification.value().method, "scripted " + event.config);
    } else if (event.kind == Kind::sample) {
      told.push_back("sample " + event.config);
      EXPECT_GE(event.elapsed_s, elapsed_s);
      elapsed_s = event.elapsed_s;
    }
  }
  std::vector<std::string> done = run.measurer.calls;
  std::erase_if(done, [](const std::string& call) { return call.starts_with("recheck"); });
  EXPECT_EQ(told, done);
  EXPECT_EQ(std::count_if(run.log.events.begin(), run.log.events.end(),
                          [](const auto& event) { return event.kind == Kind::closed; }),
            1);
}

TEST(ProblemRace, ExhaustiveTakesTheSameNumberOfEachAfterItsWarmUps) {
  MeasurePolicy policy = policy_of(Strategy::exhaustive);
  policy.warmup = 2;
  OneRace run(policy, field());
  const Evaluation evaluation = run.whole();
  for (const CandidateOutcome& result : evaluation.results) {
    EXPECT_THAT(std::get<Measured>(result.outcome).timing.samples_us, SizeIs(5));
  }
  EXPECT_EQ(evaluation.summary->stopped_because, StopReason::fixed_count);
  EXPECT_EQ(evaluation.summary->samples_taken, 12 * 5);
  EXPECT_EQ(run.measurer.call_count("sample"), 12 * (2 + 5));
  EXPECT_EQ(run.measurer.call_count("recheck"), 12);
}

TEST(ProblemRace, OneThatIsRefusedIsNotInIt) {
  Parts parts = field();
  parts["a"].refusal = WrongResult{{}, "wrong"};
  OneRace run(Strategy::race, parts);
  const auto refusal = run.admit("a");
  ASSERT_TRUE(refusal);
  EXPECT_EQ(outcome_name(*refusal), "wrong_result");
  EXPECT_THAT(run.log.events, SizeIs(0));
  EXPECT_THAT(run.race.finish().results, SizeIs(0));
}

TEST(ProblemRace, OneThatCrashesAtAWarmUpIsNotInIt) {
  MeasurePolicy policy = policy_of(Strategy::exhaustive);
  policy.warmup = 2;
  Parts parts = field();
  parts["a"].samples_until_crash = 1;
  OneRace run(policy, parts);
  const auto failure = run.admit("a");
  ASSERT_TRUE(failure);
  EXPECT_EQ(outcome_name(*failure), "crashed");
  EXPECT_THAT(run.log.events, SizeIs(0));
}

TEST(ProblemRace, OneThatFailsUnderWayIsWithdrawnAndTheOthersGoOn) {
  Parts parts = field();
  parts["b"].samples_until_crash = 2;
  OneRace run(Strategy::race, parts);
  const Evaluation evaluation = run.whole();
  const CandidateOutcome& failed = result_of(evaluation, {1});
  EXPECT_EQ(outcome_name(failed.outcome), "crashed");
  EXPECT_EQ(failed.place, 0);
  EXPECT_EQ(std::count(run.measurer.calls.begin(), run.measurer.calls.end(), "sample b"), 3);
  EXPECT_EQ(result_at(evaluation, 1).candidate, CandidateId{0});
  EXPECT_EQ(result_at(evaluation, 11).candidate, CandidateId{11});
  const auto event = std::find_if(run.log.events.begin(), run.log.events.end(),
                                  [](const auto& other) { return other.kind == Kind::failed; });
  ASSERT_NE(event, run.log.events.end());
  EXPECT_EQ(event->config, "b");
  ASSERT_TRUE(event->outcome);
  EXPECT_EQ(outcome_name(*event->outcome), "crashed");
}

TEST(ProblemRace, AWinnerThatWasWrongGivesWhoLostAgainstItAnotherChance) {
  Parts parts = field_of({50.0, 100.0, 103.0});
  parts["a"].wrong_at_recheck = true;
  OneRace run(Strategy::race, parts);
  const Evaluation evaluation = run.whole();
  EXPECT_EQ(outcome_name(result_of(evaluation, {0}).outcome), "wrong_result");
  EXPECT_EQ(result_at(evaluation, 1).candidate, CandidateId{1});
  EXPECT_EQ(result_at(evaluation, 2).candidate, CandidateId{2});
  const auto& calls = run.measurer.calls;
  const auto recheck = std::find(calls.begin(), calls.end(), "recheck a");
  EXPECT_EQ(std::find(calls.begin(), recheck, "sample b"), recheck) << "out at its admission";
  EXPECT_NE(std::find(recheck, calls.end(), "sample b"), calls.end());
  EXPECT_NE(std::find(recheck, calls.end(), "recheck b"), calls.end());
}

TEST(ProblemRace, ABudgetThatIsGoneLeavesEachWithATime) {
  Parts parts = field();
  for (auto& [label, part] : parts) {
    part.us = 100.0;
  }
  OneRace run(Strategy::race, parts, 1e-9);
  const Evaluation evaluation = run.whole();
  EXPECT_EQ(evaluation.summary->stopped_because, StopReason::budget);
  ASSERT_THAT(evaluation.results, SizeIs(12));
  for (const CandidateOutcome& result : evaluation.results) {
    EXPECT_GT(result.place, 0);
    EXPECT_THAT(std::get<Measured>(result.outcome).timing.samples_us, SizeIs(1));
  }
}

TEST(ProblemRace, BeforeItsEndItSaysWhatIsKnown) {
  OneRace run;
  run.admit_all();
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(run.race.work());
  }
  const Evaluation evaluation = run.race.finish();
  EXPECT_THAT(evaluation.results, SizeIs(12));
  EXPECT_EQ(evaluation.summary->stopped_because, StopReason::not_yet);
}

TEST(ProblemRace, WaitsForOthersUntilItIsClosed) {
  OneRace run(Strategy::race, field_of({100.0, 100.0}));
  EXPECT_FALSE(run.race.work());
  EXPECT_FALSE(run.admit("a"));
  EXPECT_TRUE(run.race.work());
  EXPECT_FALSE(run.race.work()) << "one sample will do until the next one joins";
  EXPECT_FALSE(run.admit("b"));
  EXPECT_TRUE(run.race.work());
}

TEST(ProblemRace, ThrottledSamplesAreTakenAnew) {
  OneRace run(Strategy::exhaustive);
  run.measurer.throttled = {13, 20};
  run.measurer.readings = true;
  const Evaluation evaluation = run.whole();
  EXPECT_EQ(evaluation.summary->samples_retaken, 2);
  EXPECT_EQ(evaluation.summary->samples_taken, 12 * 5 + 2);
  for (const CandidateOutcome& result : evaluation.results) {
    const Timing& timing = std::get<Measured>(result.outcome).timing;
    EXPECT_LT(timing.max_us, 1.1 * timing.min_us);
  }
  ASSERT_TRUE(evaluation.conditions);
  EXPECT_EQ(evaluation.conditions->readings, 12 * 5 + 2);
  EXPECT_EQ(evaluation.conditions->sm_mhz_min, 1200.0);
  EXPECT_EQ(evaluation.conditions->temperature_c_max, 90.0);
  EXPECT_THAT(evaluation.conditions->throttle_reasons, Contains("hw_thermal_slowdown"));
}

TEST(ProblemRace, SamplesWithoutTheGateThatWasAskedForAreWarnedOf) {
  OneRace run(Strategy::exhaustive);
  run.measurer.gate = false;
  for (const CandidateOutcome& result : run.whole().results) {
    EXPECT_THAT(std::get<Measured>(result.outcome).timing.warnings,
                Contains(HasSubstr("without the device gate")));
  }
}

/// The candidates of a race that is cut off and resumed. One of them crashes.
Parts eventful_field() {
  Parts parts = field();
  parts["c"].samples_until_crash = 4;
  return parts;
}

class ResumedRace : public testing::TestWithParam<Strategy> {};

TEST_P(ResumedRace, EndsAsIfItHadNeverBeenCutOff) {
  OneRace whole(GetParam(), eventful_field());
  whole.measurer.throttled = {30, 31};
  whole.measurer.readings = true;
  const Evaluation expected = whole.whole();
  const auto& events = whole.log.events;
  ASSERT_GT(events.size(), 40U);
  for (const std::size_t cut : {std::size_t{13}, std::size_t{14}, events.size() / 3,
                                2 * events.size() / 3, events.size() - 1, events.size()}) {
    SCOPED_TRACE(cut);
    OneRace rest(GetParam(), eventful_field());
    rest.measurer.throttled = {30, 31};
    rest.measurer.readings = true;
    // Counts down to the crash of "c", which may have happened before the cut.
    for (const JournalEvent& event : events | std::views::take(cut)) {
      rest.measurer.parts_["c"].samples_until_crash -=
          static_cast<int>(event.kind == Kind::sample && event.config == "c");
    }
    ASSERT_TRUE(rest.resume({events.begin(), events.begin() + static_cast<std::ptrdiff_t>(cut)}));
    rest.work_to_the_end();
    expect_same(expected, rest.race.finish());
    EXPECT_EQ(rest.log.events.size(), events.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Strategies, ResumedRace,
                         testing::Values(Strategy::race, Strategy::exhaustive),
                         [](const auto& strategy) {
                           return std::string(enum_name(strategy.param));
                         });

// --- On a part of the problem ---

RaceTerms terms_with_part() {
  RaceTerms terms;
  terms.part = Problem{1, 64, 1, 64, DType::fp16, false};
  terms.part_share = ScriptedMeasurer::kPartShare;
  return terms;
}

TEST(ProblemRaceOnAPart, TimesAndVerificationsOfTheBestAreOfTheWholeProblem) {
  OneRace run(policy_of(Strategy::race), field(), terms_with_part());
  const Evaluation evaluation = run.whole();
  const auto measured_at = [&](int place) {
    return std::get<Measured>(result_at(evaluation, place).outcome);
  };
  EXPECT_EQ(measured_at(1).timing.part_share, 0.0);
  EXPECT_NEAR(measured_at(1).timing.median_us, 100.0, 1.0);
  EXPECT_THAT(measured_at(1).verification.method, HasSubstr("the whole of"));
  EXPECT_EQ(measured_at(12).timing.part_share, ScriptedMeasurer::kPartShare);
  EXPECT_NEAR(measured_at(12).timing.median_us, 300.0, 10.0);
  EXPECT_EQ(measured_at(12).verification.method, "scripted l");
  EXPECT_EQ(evaluation.summary->part_share, ScriptedMeasurer::kPartShare);
  EXPECT_GT(evaluation.summary->part_rounds, 0);
}

TEST(ProblemRaceOnAPart, TheJournalHasTheLaunchThere) {
  OneRace run(policy_of(Strategy::race), field(), terms_with_part());
  static_cast<void>(run.whole());
  EXPECT_EQ(run.log.events.front().kind, Kind::admitted);
  EXPECT_EQ(run.log.events.front().launch.grid[0], 2);
}

TEST(ProblemRaceOnAPart, WarmUpsComeBeforeTheFirstSampleOnEither) {
  MeasurePolicy policy = policy_of(Strategy::race);
  policy.warmup = 2;
  OneRace run(policy, field_of({100.0, 300.0}), terms_with_part());
  static_cast<void>(run.whole());
  EXPECT_THAT(std::vector<std::string>(run.measurer.calls.begin(), run.measurer.calls.begin() + 3),
              ElementsAre("admit a", "sample a on the part", "sample a on the part"));
  const auto rounds = run.race.finish().summary->samples_taken;
  EXPECT_EQ(run.measurer.call_count("sample"), rounds + 2 * 2 + 2);
}

TEST(ProblemRaceOnAPart, OneThatMayBeFurtherBehindThereGoesOnToTheWholeProblem) {
  const auto share_of_last = [](const PartTail& part_tail) {
    OneRace run(policy_of(Strategy::race), field_of({100, 108}), terms_with_part());
    run.part_tail = part_tail;
    return std::get<Measured>(result_at(run.whole(), 2).outcome).timing.part_share;
  };
  EXPECT_GT(share_of_last({}), 0.0);
  EXPECT_EQ(share_of_last({0.0, 0.1}), 0.0);
}

TEST(ProblemRaceOnAPart, OneThatIsCutOffEndsAsIfItHadNeverBeen) {
  const MeasurePolicy policy = policy_of(Strategy::race);
  OneRace whole(policy, field(), terms_with_part());
  const Evaluation expected = whole.whole();
  const auto& events = whole.log.events;
  for (std::size_t cut = 13; cut <= events.size(); cut += 7) {
    SCOPED_TRACE(cut);
    OneRace rest(policy, field(), terms_with_part());
    ASSERT_TRUE(rest.resume({events.begin(), events.begin() + static_cast<std::ptrdiff_t>(cut)}));
    rest.work_to_the_end();
    expect_same(expected, rest.race.finish());
    EXPECT_EQ(rest.log.events.size(), events.size());
  }
}

// --- At one clock ---

RaceTerms terms_at_one_clock() {
  RaceTerms terms = terms_with_part();
  terms.at_one_clock = true;
  return terms;
}

/// Six candidates that differ by less than the clock moves, but by more than the noise at one
/// clock.
struct RaceAtMovingClocks : OneRace {
  explicit RaceAtMovingClocks(const RaceTerms& terms,
                              const std::vector<double>& times_us = {100, 100.8, 101, 101.2, 101.4,
                                                                     101.6})
      : OneRace(policy_of(Strategy::race), field_of(times_us), terms) {
    measurer.noise = 0.0005;
    measurer.clock_moves = true;
  }
};

TEST(ProblemRaceAtOneClock, AMovingClockCostsNoSamples) {
  RaceAtMovingClocks run(terms_at_one_clock());
  const Evaluation evaluation = run.whole();
  EXPECT_EQ(evaluation.summary->final_rounds, 8) << "as few as there may be";
  const Timing fastest = std::get<Measured>(result_at(evaluation, 1).outcome).timing;
  EXPECT_LT(fastest.stddev_us, 0.001 * fastest.median_us);
  RaceAtMovingClocks without(terms_with_part());
  EXPECT_GT(without.whole().summary->final_rounds, 8);
}

TEST(ProblemRaceAtOneClock, TimesAreThoseAtTheMedianClock) {
  RaceAtMovingClocks run(terms_at_one_clock());
  const Evaluation evaluation = run.whole();
  EXPECT_NEAR(std::get<Measured>(result_at(evaluation, 1).outcome).timing.median_us,
              100 * 1980 / evaluation.summary->at_sm_mhz, 0.1);
  RaceAtMovingClocks without(terms_with_part());
  EXPECT_EQ(without.whole().summary->at_sm_mhz, 0.0);
}

TEST(ProblemRaceAtOneClock, SoAreTimesOnThePart) {
  RaceAtMovingClocks run(terms_at_one_clock(), {100, 102, 104, 108});
  const Evaluation evaluation = run.whole();
  const Timing slowest = std::get<Measured>(result_at(evaluation, 4).outcome).timing;
  EXPECT_GT(slowest.part_share, 0.0);
  EXPECT_GT(slowest.samples_us.size(), 1U);
  EXPECT_NEAR(slowest.median_us, 108 * 1980 / evaluation.summary->at_sm_mhz, 0.2);
  EXPECT_LT(slowest.stddev_us, 0.002 * slowest.median_us);
}

TEST(ProblemRaceAtOneClock, OneThatIsCutOffEndsAsIfItHadNeverBeen) {
  RaceAtMovingClocks whole(terms_at_one_clock());
  const Evaluation expected = whole.whole();
  const auto& events = whole.log.events;
  for (std::size_t cut = 8; cut <= events.size(); cut += 5) {
    SCOPED_TRACE(cut);
    RaceAtMovingClocks rest(terms_at_one_clock());
    ASSERT_TRUE(rest.resume({events.begin(), events.begin() + static_cast<std::ptrdiff_t>(cut)}));
    rest.work_to_the_end();
    expect_same(expected, rest.race.finish());
  }
}

// --- A sustained final ---

/// "a" is the fastest at one clock. "b" is 1 % slower there, but draws less power: it has a clock
/// 3 % higher when it runs alone. "c" is between them, and "d" too far behind for the final.
Parts hungry_and_frugal() {
  Parts parts = field_of({100, 101, 102, 108});
  parts["a"].alone_mhz = 1500;
  parts["b"].alone_mhz = 1545;
  parts["c"].alone_mhz = 1540;
  parts["d"].alone_mhz = 1980;
  return parts;
}

MeasurePolicy sustaining_policy() {
  MeasurePolicy policy = policy_of(Strategy::race);
  policy.sustain_s = 0.01;  // 100 launches
  return policy;
}

RaceTerms whole_at_one_clock() {
  RaceTerms terms;
  terms.at_one_clock = true;
  return terms;
}

struct RaceAtThePowerCap : OneRace {
  explicit RaceAtThePowerCap(const Parts& parts = hungry_and_frugal(),
                             const RaceTerms& terms = whole_at_one_clock(),
                             const MeasurePolicy& policy = sustaining_policy())
      : OneRace(policy, parts, terms) {
    measurer.noise = 0.0005;
    measurer.readings = true;
  }

  /// The configurations of the turns, in order.
  [[nodiscard]] std::string turns() const {
    std::string turns;
    for (const JournalEvent& event : log.events) {
      turns += event.kind == Kind::turn ? event.config : "";
    }
    return turns;
  }
};

const Timing& timing_at(const Evaluation& evaluation, int place) {
  return std::get<Measured>(result_at(evaluation, place).outcome).timing;
}

TEST(SustainedRace, WithoutItTheHungryOneWins) {
  RaceAtThePowerCap run(hungry_and_frugal(), whole_at_one_clock(), policy_of(Strategy::race));
  const Evaluation evaluation = run.whole();
  EXPECT_EQ(result_at(evaluation, 1).candidate, CandidateId{0});
  EXPECT_EQ(timing_at(evaluation, 1).sustained_us, 0.0);
  EXPECT_EQ(run.turns(), "");
  EXPECT_EQ(evaluation.summary->not_sustained_because, "") << "nobody wanted it";
}

TEST(SustainedRace, RanksByTheTimesAlone) {
  RaceAtThePowerCap run;
  const Evaluation evaluation = run.whole();
  EXPECT_EQ(run.turns(), "abccba");
  EXPECT_EQ(evaluation.summary->not_sustained_because, "");
  EXPECT_EQ(result_at(evaluation, 1).candidate, CandidateId{1});
  EXPECT_NEAR(timing_at(evaluation, 1).sustained_us, 101 * 1980 / 1545.0, 0.1);
  EXPECT_EQ(timing_at(evaluation, 1).sustained_sm_mhz, 1545);
  EXPECT_NEAR(timing_at(evaluation, 1).median_us, 101, 0.2) << "at one clock";
  EXPECT_EQ(result_at(evaluation, 2).candidate, CandidateId{2});
  EXPECT_EQ(result_at(evaluation, 3).candidate, CandidateId{0});
  EXPECT_NEAR(timing_at(evaluation, 3).sustained_us, 100 * 1980 / 1500.0, 0.1);
  EXPECT_EQ(result_at(evaluation, 4).candidate, CandidateId{3});
  EXPECT_EQ(timing_at(evaluation, 4).sustained_us, 0.0);
  EXPECT_THAT(run.measurer.calls, Contains("recheck c")) << "after its last launch";
}

TEST(SustainedRace, TakesNoSamplesOfTheRace) {
  RaceAtThePowerCap run;
  const Evaluation evaluation = run.whole();
  RaceAtThePowerCap without(hungry_and_frugal(), whole_at_one_clock(), policy_of(Strategy::race));
  const Evaluation expected = without.whole();
  EXPECT_EQ(evaluation.summary->samples_taken, expected.summary->samples_taken);
  EXPECT_EQ(timing_at(evaluation, 3).samples_us, timing_at(expected, 1).samples_us);
  const int launches = run.measurer.call_count("sample") - without.measurer.call_count("sample");
  EXPECT_GE(launches, 6 * 70) << "100 launches at the clock of the race";
  EXPECT_LE(launches, 6 * 100);
}

/// Expects the race to rank as it does without a final, and returns why there is none.
std::string why_not(RaceAtThePowerCap& run) {
  const Evaluation evaluation = run.whole();
  EXPECT_EQ(run.turns(), "");
  EXPECT_EQ(result_at(evaluation, 1).candidate, CandidateId{0});
  EXPECT_EQ(timing_at(evaluation, 1).sustained_us, 0.0);
  return evaluation.summary->not_sustained_because;
}

TEST(SustainedRace, IsLeftOutBelowThePowerCap) {
  RaceAtThePowerCap run;
  run.measurer.at_power_cap = false;
  EXPECT_EQ(why_not(run), "the GPU was not at its power cap");
  RaceAtThePowerCap unknown;
  unknown.measurer.readings = false;
  EXPECT_EQ(why_not(unknown), "the GPU was not at its power cap");
}

TEST(SustainedRace, IsLeftOutIfTimesAreNotComparedAtOneClock) {
  RaceAtThePowerCap run(hungry_and_frugal(), RaceTerms{});
  EXPECT_EQ(why_not(run), "its times are not compared at one clock");
}

TEST(SustainedRace, IsLeftOutIfTheWinnerIsFarAhead) {
  RaceAtThePowerCap run(field_of({100, 107}));
  EXPECT_EQ(why_not(run), "no other configuration is within 6 % of the winner");
  RaceAtThePowerCap alone(field_of({100}));
  EXPECT_EQ(why_not(alone), "no other configuration is within 6 % of the winner");
}

TEST(SustainedRace, IsLeftOutIfTheBudgetHasNoTimeForIt) {
  MeasurePolicy policy = sustaining_policy();
  policy.sustain_s = 100.0;
  RaceTerms terms = whole_at_one_clock();
  terms.budget_s = 400.0;
  RaceAtThePowerCap run(hungry_and_frugal(), terms, policy);
  EXPECT_EQ(why_not(run), "the budget leaves no time for it");
}

TEST(SustainedRace, IsLeftOutOfFurtherRaces) {
  RaceTerms terms = whole_at_one_clock();
  terms.may_sustain = false;
  RaceAtThePowerCap run(hungry_and_frugal(), terms);
  EXPECT_EQ(why_not(run), "");
}

TEST(SustainedRace, BeginsAnewWithoutOneThatCrashes) {
  RaceAtThePowerCap run;
  run.measurer.parts_["b"].samples_until_crash = 150;  // in its second turn
  const Evaluation evaluation = run.whole();
  EXPECT_EQ(run.turns(), "abccacca");
  EXPECT_EQ(outcome_name(result_of(evaluation, {1}).outcome), "crashed");
  EXPECT_EQ(result_at(evaluation, 1).candidate, CandidateId{2});
}

TEST(SustainedRace, VerifiesOnTheWholeProblemOneThatWasTimedOnThePart) {
  RaceTerms terms = terms_at_one_clock();
  RaceAtThePowerCap run(field_of({100, 103}), terms);
  const Evaluation evaluation = run.whole();
  EXPECT_EQ(run.turns(), "abba");
  const auto& second = std::get<Measured>(result_at(evaluation, 2).outcome);
  EXPECT_GT(second.timing.part_share, 0.0);
  EXPECT_NEAR(second.timing.sustained_us, 103, 0.2);
  EXPECT_EQ(second.verification.method, "the whole of b");
}

TEST(SustainedRaceResume, EndsAsIfItHadNeverBeenCutOff) {
  RaceAtThePowerCap whole;
  const Evaluation expected = whole.whole();
  const auto& events = whole.log.events;
  const std::size_t turns = whole.turns().size();
  for (std::size_t cut = events.size() - turns - 3; cut <= events.size(); ++cut) {
    SCOPED_TRACE(cut);
    RaceAtThePowerCap rest;
    ASSERT_TRUE(rest.resume({events.begin(), events.begin() + static_cast<std::ptrdiff_t>(cut)}));
    rest.work_to_the_end();
    const Evaluation evaluation = rest.race.finish();
    expect_same(expected, evaluation);
    EXPECT_NEAR(timing_at(evaluation, 1).sustained_us, timing_at(expected, 1).sustained_us, 0.1);
    EXPECT_EQ(rest.turns(), whole.turns()) << "none is repeated";
  }
}

TEST(SustainedRaceResume, AFinalThatHasEndedIsNotRepeated) {
  RaceAtThePowerCap whole;
  const Evaluation expected = whole.whole();
  RaceAtThePowerCap rest;
  ASSERT_TRUE(rest.resume(whole.log.events));
  rest.work_to_the_end();
  EXPECT_EQ(rest.measurer.call_count("sample"), 0);
  EXPECT_EQ(timing_at(rest.race.finish(), 1).sustained_us, timing_at(expected, 1).sustained_us);
}

TEST(SustainedRaceResume, ATurnOfAnotherIsNotUsed) {
  RaceAtThePowerCap whole;
  static_cast<void>(whole.whole());
  std::vector<JournalEvent> events = whole.log.events;
  const auto turn = std::ranges::find(events, Kind::turn, &JournalEvent::kind);
  turn->config = "c";
  RaceAtThePowerCap rest;
  EXPECT_FALSE(rest.resume(events));
}

TEST(ProblemRaceResume, LoadsAnewOnlyWhoIsSampled) {
  OneRace whole;
  static_cast<void>(whole.whole());
  std::vector<JournalEvent> events = whole.log.events;
  events.resize(events.size() - 5);
  OneRace rest;
  ASSERT_TRUE(rest.resume(events));
  EXPECT_THAT(rest.measurer.calls, SizeIs(0));
  rest.work_to_the_end();
  EXPECT_THAT(rest.measurer.calls, Contains("admit a"));
  EXPECT_THAT(rest.measurer.calls, Not(Contains("admit l")));
  EXPECT_EQ(std::count(rest.measurer.calls.begin(), rest.measurer.calls.end(), "admit a"), 1);
}

TEST(ProblemRaceResume, OneThatIsWrongWhenItIsLoadedAnewIsWithdrawn) {
  OneRace whole;
  static_cast<void>(whole.whole());
  std::vector<JournalEvent> events = whole.log.events;
  events.resize(20);
  OneRace rest;
  rest.measurer.parts_["a"].refusal = WrongResult{{}, "now"};
  ASSERT_TRUE(rest.resume(events));
  rest.work_to_the_end();
  const Evaluation evaluation = rest.race.finish();
  EXPECT_EQ(outcome_name(result_of(evaluation, {0}).outcome), "wrong_result");
  EXPECT_EQ(result_at(evaluation, 1).candidate, CandidateId{1});
}

TEST(ProblemRaceResume, WhoJoinsAfterTheClosingRacesAgainstAllAnew) {
  Parts parts = field();
  parts["c"].samples_until_crash = 2;
  OneRace before(Strategy::race, parts);
  for (const std::string& label : before.labels()) {
    EXPECT_TRUE(label == "a" || !before.admit(label));
  }
  before.work_to_the_end();
  OneRace rest;
  ASSERT_TRUE(rest.resume(before.log.events));
  EXPECT_FALSE(rest.admit("a"));
  rest.work_to_the_end();
  const Evaluation evaluation = rest.race.finish();
  EXPECT_EQ(rest.log.drops, 1);
  EXPECT_EQ(result_at(evaluation, 1).candidate, CandidateId{0});
  EXPECT_EQ(result_at(evaluation, 11).candidate, CandidateId{11});
  EXPECT_EQ(outcome_name(result_of(evaluation, {2}).outcome), "crashed");
  OneRace again;
  ASSERT_TRUE(again.resume(rest.log.events)) << "its journal is one";
  EXPECT_FALSE(again.race.work()) << "and says all";
  expect_same(evaluation, again.race.finish());
}

TEST(ProblemRaceResume, WhatDoesNotFitIsNotUsed) {
  OneRace whole;
  static_cast<void>(whole.whole());
  const auto& events = whole.log.events;
  constexpr std::size_t kSample = 13;  // after twelve admissions and the closing
  ASSERT_EQ(events.at(kSample).kind, Kind::sample);
  const std::vector<std::pair<std::string, std::function<void(std::vector<JournalEvent>&)>>>
      damages{{"a sample of another",
               [&](auto& e) { e[kSample].config = e[kSample].config == "a" ? "b" : "a"; }},
              {"no time", [&](auto& e) { e[kSample].us = 0.0; }},
              {"a sample before anyone is there", [&](auto& e) { std::swap(e[0], e[kSample]); }},
              {"one who is not known", [&](auto& e) { e[0].config = "z"; }},
              {"one who joins twice", [&](auto& e) { e.insert(e.begin(), e[0]); }},
              {"one who joins late", [&](auto& e) { e.push_back(e[0]); }},
              {"a failure of nobody",
               [&](auto& e) {
                 e[kSample].kind = Kind::failed;
                 e[kSample].config = "z";
               }},
              {"a failure without an outcome", [&](auto& e) { e[kSample].kind = Kind::failed; }}};
  for (const auto& [name, damage] : damages) {
    SCOPED_TRACE(name);
    std::vector<JournalEvent> damaged = events;
    damage(damaged);
    OneRace rest;
    EXPECT_FALSE(rest.resume(damaged));
    EXPECT_THAT(rest.race.finish().results, SizeIs(0));
    rest.measurer.next_sample = 1;
    rest.log.events.clear();
    OneRace fresh;
    expect_same(fresh.whole(), rest.whole());
    EXPECT_EQ(rest.log.events.size(), fresh.log.events.size());
  }
}

}  // namespace
}  // namespace fatune
