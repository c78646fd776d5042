// Hardware counters at the end of a race.

#include <gmock/gmock.h>

#include "engine/problem_race.hpp"
#include "unit/engine/recording_log.hpp"
#include "unit/engine/scripted_measurer.hpp"

namespace fatune {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Arch kHopper{90, 'a'};

/// Three configurations, each two percent behind the one before.
class RaceCountersTest : public testing::Test {
 protected:
  Evaluation race(int most) {
    RaceCounters counters(measurer_, kHopper, most);
    return race(counters);
  }
  Evaluation race(RaceCounters& counters) {
    RecordingLog log;
    ProblemRace race(measurer_, RaceTerms{}, log, &counters);
    CandidateId id;
    for (const char* label : {"a", "b", "c"}) {
      EXPECT_FALSE(race.admit({id.index++}, scripted_kernel(label)));
    }
    race.close();
    while (race.work()) {
    }
    return race.finish();
  }
  /// The measurement at this place. Places count from 1.
  static const Measured& measured(const Evaluation& evaluation, int place) {
    for (const CandidateOutcome& result : evaluation.results) {
      if (result.place == place) {
        return std::get<Measured>(result.outcome);
      }
    }
    throw std::out_of_range("place");
  }
  std::vector<std::string> counted() const {
    std::vector<std::string> labels;
    for (const std::string& call : measurer_.calls) {
      if (call.starts_with("count ")) {
        labels.push_back(call.substr(6));
      }
    }
    return labels;
  }

  static std::map<std::string, ScriptedMeasurer::Part> parts() {
    std::map<std::string, ScriptedMeasurer::Part> parts;
    parts["a"].us = 100.0;
    parts["b"].us = 102.0;
    parts["c"].us = 104.0;
    return parts;
  }

  ScriptedMeasurer measurer_{{}, parts()};
};

TEST_F(RaceCountersTest, AreReadForTheFirstOfTheRankingAfterItsLastSample) {
  const Evaluation evaluation = race(2);
  EXPECT_THAT(counted(), ElementsAre("a", "b"));
  EXPECT_TRUE(measurer_.calls.back().starts_with("count"));
  EXPECT_THAT(
      measured(evaluation, 1).counters,
      Contains(AllOf(Field(&CounterValue::name, "duration_us"), Field(&CounterValue::value, 1.0))))
      << "1000 ns";
  EXPECT_THAT(measured(evaluation, 3).counters, IsEmpty());
  EXPECT_THAT(evaluation.summary->warnings, IsEmpty());
}

TEST_F(RaceCountersTest, WithoutAWishNoneAreRead) {
  race(0);
  EXPECT_THAT(counted(), IsEmpty());
}

TEST_F(RaceCountersTest, ThatCannotBeReadCostNothingAndAreTriedOnce) {
  measurer_.no_counters = "no permission";
  RaceCounters counters(measurer_, kHopper, 3);
  const Evaluation first = race(counters);
  EXPECT_THAT(counted(), ElementsAre("a"));
  EXPECT_THAT(first.summary->warnings, Contains(HasSubstr("no hardware counters: no permission")));
  EXPECT_GT(measured(first, 1).timing.median_us, 0.0);
  const Evaluation second = race(counters);
  EXPECT_THAT(counted(), ElementsAre("a")) << "not again in the next problem";
  EXPECT_THAT(second.summary->warnings, IsEmpty());
}

TEST_F(RaceCountersTest, ACrashWhileCountingIsAWarningAndTheTimesStand) {
  measurer_.crashes_when_counted = "a";
  const Evaluation evaluation = race(2);
  EXPECT_THAT(counted(), ElementsAre("a", "b"));
  EXPECT_THAT(measured(evaluation, 1).timing.warnings,
              Contains(HasSubstr("no hardware counters: ")));
  EXPECT_THAT(measured(evaluation, 2).counters, testing::Not(IsEmpty()));
}

}  // namespace
}  // namespace fatune
