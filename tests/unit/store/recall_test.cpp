// The stored outcomes that stand in for a new measurement.
#include "store/recall.hpp"

#include "unit/store/run_samples.hpp"
#include "unit/store/store_folder.hpp"

namespace fatune {
namespace {

class Recall : public StoreFolder {
 protected:
  /// Stores a run of configuration 1 with this outcome.
  void store_run(const NewRun& run, const Outcome& outcome, bool complete,
                 const OutcomeOrigin& origin = tried()) {
    RunWriter writer(database_, run);
    writer.begin_problem(sample_problem());
    writer.add(sample_result(1, outcome), origin);
    writer.end_run(run_end(1.0, complete));
  }

  [[nodiscard]] std::optional<Recalled> unfinished() {
    return recall_unfinished({database_, sample_run().identity, kNewRun}, candidate_);
  }
  [[nodiscard]] std::optional<Recalled> measurement() {
    return recall_measurement({database_, sample_run().identity, kNewRun}, candidate_);
  }
  static double median_us(const std::optional<Recalled>& found) {
    return std::get<Measured>(found.value().outcome).timing.median_us;
  }

  static constexpr std::int64_t kNewRun = 1000;
  Database database_ = open();
  StoredCandidate candidate_{sample_problem().problem, 2, "key-1", sample_launch()};
};

TEST(LaunchColumn, HasNoStandardArguments) {
  LaunchGeometry launch{{16, 1, 256}, {128, 1, 1}, 32768};
  const std::string before = launch_column(launch);
  launch.arguments.list.push_back({"/abi", 4, 4, {{0, 4, 1}}, {}, {}});
  EXPECT_EQ(launch_column(launch), before) << "standard arguments follow from the problem";
  launch.arguments.standard = false;
  const std::string own = launch_column(launch);
  EXPECT_NE(own, before);
  launch.arguments.list[0].scalars[0].bits = 2;
  EXPECT_NE(launch_column(launch), own);
  launch.arguments.standard = true;
  launch.cluster = {2, 1, 1};
  EXPECT_NE(launch_column(launch), before);
}

TEST_F(Recall, AnEmptyStoreKnowsNothing) {
  EXPECT_FALSE(unfinished());
  EXPECT_FALSE(measurement());
  EXPECT_FALSE(has_unfinished({database_, sample_run().identity, kNewRun}));
}

TEST_F(Recall, AnInterruptedRunIsContinuedWithItsSamples) {
  store_run(sample_run(), sample_measurement(100.0), false);
  EXPECT_TRUE(has_unfinished({database_, sample_run().identity, kNewRun}));
  const auto found = unfinished();
  ASSERT_TRUE(found);
  EXPECT_EQ(std::get<Measured>(found->outcome).timing.samples_us.size(), 3U);
}

TEST_F(Recall, ATimeThatNoKernelTakesIsMeasuredAgain) {
  for (const double us : {0.0, -1.0, 1e-320, 1e300}) {
    Measured measured = sample_measurement(100.0);
    measured.timing.samples_us.back() = us;
    store_run(sample_run(), measured, false);
    EXPECT_FALSE(unfinished()) << us;
    measured = sample_measurement(100.0);
    measured.timing.median_us = us;
    store_run(sample_run(), measured, false);
    EXPECT_FALSE(unfinished()) << us;
    EXPECT_FALSE(measurement()) << us;
  }
  store_run(sample_run(), sample_measurement(100.0), false);
  EXPECT_TRUE(unfinished());
}

TEST_F(Recall, SoIsOneThatWasInterruptedTwice) {
  store_run(sample_run(), sample_measurement(100.0), false);
  const RunWriter second(database_, sample_run());
  EXPECT_EQ(median_us(unfinished()), 100.0);
}

TEST_F(Recall, ACompleteRunEndsWhatCameBefore) {
  store_run(sample_run(), sample_measurement(100.0), false);
  store_run(sample_run(), sample_measurement(90.0), true);
  EXPECT_FALSE(unfinished());
  EXPECT_FALSE(has_unfinished({database_, sample_run().identity, kNewRun}));
}

TEST_F(Recall, SoDoesOneThatBeganAnew) {
  store_run(sample_run(), sample_measurement(100.0), false);
  NewRun anew = sample_run();
  anew.anew = true;
  const RunWriter second(database_, anew);
  EXPECT_FALSE(unfinished());
  EXPECT_TRUE(has_unfinished({database_, sample_run().identity, kNewRun}));
}

TEST_F(Recall, AnotherPlanIsNotContinuedButReused) {
  NewRun other = sample_run();
  other.identity.plan = "other";
  store_run(other, sample_measurement(100.0), false);
  EXPECT_FALSE(unfinished());
  EXPECT_EQ(median_us(measurement()), 100.0);
}

TEST_F(Recall, TheLatestMeasurementIsReused) {
  store_run(sample_run(), sample_measurement(100.0), true);
  store_run(sample_run(), sample_measurement(90.0), true);
  EXPECT_EQ(median_us(measurement()), 90.0);
}

TEST_F(Recall, OtherConditionsAreNotReused) {
  NewRun other = sample_run();
  other.identity.conditions = "another driver";
  store_run(other, sample_measurement(100.0), true);
  EXPECT_FALSE(measurement());
}

TEST_F(Recall, OtherCodeLaunchProblemOrRepetitionIsNotReused) {
  store_run(sample_run(), sample_measurement(100.0), true);
  const StoredCandidate same = candidate_;
  candidate_.artifact_key = "key-2";
  EXPECT_FALSE(measurement());
  candidate_ = same;
  candidate_.launch.grid[0] += 1;
  EXPECT_FALSE(measurement());
  candidate_ = same;
  candidate_.problem.causal = false;
  EXPECT_FALSE(measurement());
  candidate_ = same;
  candidate_.run = 1;
  EXPECT_FALSE(measurement());
  candidate_ = same;
  EXPECT_TRUE(measurement());
}

TEST_F(Recall, ACrashIsContinuedButNotReused) {
  store_run(sample_run(), Crashed{"no"}, false);
  EXPECT_TRUE(unfinished());
  EXPECT_FALSE(measurement());
}

TEST_F(Recall, WhatWasNotTriedOrWasRepeatedItselfIsNotTaken) {
  OutcomeOrigin origin = tried();
  origin.tried = false;
  store_run(sample_run(), Unlaunchable{"no"}, false, origin);
  origin = tried();
  origin.source = 1;
  store_run(sample_run(), sample_measurement(100.0), false, origin);
  EXPECT_FALSE(unfinished());
  EXPECT_FALSE(measurement());
}

TEST_F(Recall, TheRunUnderWayIsNotAsked) {
  RunWriter writer(database_, sample_run());
  writer.begin_problem(sample_problem());
  writer.add(sample_result(1, sample_measurement(100.0)), tried());
  EXPECT_FALSE(recall_unfinished({database_, sample_run().identity, writer.run_id()}, candidate_));
  EXPECT_FALSE(recall_measurement({database_, sample_run().identity, writer.run_id()}, candidate_));
}

TEST_F(Recall, ADamagedMeasurementIsTakenAgain) {
  store_run(sample_run(), sample_measurement(100.0), false);
  database_.execute("UPDATE samples SET us = -1 WHERE number = 1");
  EXPECT_FALSE(unfinished());
  EXPECT_FALSE(measurement());
}

}  // namespace
}  // namespace fatune
