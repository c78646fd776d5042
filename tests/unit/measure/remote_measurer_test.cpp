// The parent's side of the worker's protocol, against a program with scripted faults.
#include "measure/remote_measurer.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "unit/base/temp_folder.hpp"
#include "unit/gpu/fake_driver.hpp"
#include "unit/measure/measure_alone.hpp"

namespace fatune {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

const Problem kRemoteProblem{1, 128, 1, 64, DType::fp16, false};

CandidateKernel candidate(const std::string& label) {
  auto artifact = std::make_shared<Artifact>();
  artifact->lowered_name = "kernel";
  artifact->cubin = {'c', 'u'};
  return {label, std::move(artifact), {}, {}};
}

class RemoteMeasurerTest : public testing::Test {
 protected:
  void launch_with(std::vector<std::string> launcher) { launcher_ = std::move(launcher); }
  void script(const std::string& text) {
    script_.reset();
    script_ = std::make_unique<gpu::ScopedVariable>("FATUNE_FAKE_WORKER", text);
  }
  RemoteMeasurer& open() {
    MeasurePolicy policy;
    policy.warmup = 2;
    policy.repeats = 5;
    WorkerSettings settings{{FATUNE_FAKE_WORKER_PROGRAM}, 0, {}};
    settings.command.launcher = launcher_;
    settings.deadlines.floor = std::chrono::milliseconds(1000);
    measurer_.reset();
    measurer_ = std::make_unique<RemoteMeasurer>(settings, policy);
    measurer_->begin_problem(kRemoteProblem, {});
    return *measurer_;
  }
  static double median_us(const Outcome& outcome) {
    const auto* measured = std::get_if<Measured>(&outcome);
    EXPECT_NE(measured, nullptr) << outcome_name(outcome) << ": " << outcome_summary(outcome);
    return measured == nullptr ? 0.0 : measured->timing.median_us;
  }
  std::string error_of_open() {
    try {
      open();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::gpu_failure);
      return error.what();
    }
    return "no error";
  }

 private:
  std::vector<std::string> launcher_;
  std::unique_ptr<gpu::ScopedVariable> script_;
  std::unique_ptr<RemoteMeasurer> measurer_;
};

TEST_F(RemoteMeasurerTest, MeasuresByTheScript) {
  script(R"({"us": {"fast": 50, "slow": 70}})");
  RemoteMeasurer& measurer = open();
  EXPECT_EQ(measurer.limits().name, "Scripted GPU");
  const Outcome outcome = measure_alone(measurer, candidate("fast"));
  EXPECT_EQ(median_us(outcome), 50.0);
  EXPECT_THAT(std::get<Measured>(outcome).timing.samples_us, SizeIs(5));
  EXPECT_EQ(median_us(measure_alone(measurer, candidate("slow"))), 70.0);
  EXPECT_EQ(measurer.workers_started(), 1);
}

TEST_F(RemoteMeasurerTest, AToolCanStandInFrontOfTheWorker) {
  script(R"({"us": {"fast": 50}})");
  launch_with({"/usr/bin/env", "FATUNE_FAKE_WORKER={\"us\": {\"fast\": 30}}"});
  EXPECT_EQ(median_us(measure_alone(open(), candidate("fast"))), 30.0)
      << "env has changed the script";
}

TEST_F(RemoteMeasurerTest, AToolThatIsNotThereIsNamed) {
  launch_with({"/no/such/tool"});
  EXPECT_THAT(error_of_open(), testing::HasSubstr("/no/such/tool"));
}

TEST_F(RemoteMeasurerTest, AnAdmissionBringsItsFirstTimeAndWaitingIsCounted) {
  script(R"({"us": {"fast": 50}})");
  RemoteMeasurer& measurer = open();
  EXPECT_GT(measurer.start_s(), 0.0);
  const double before_s = measurer.busy_s();
  EXPECT_GT(before_s, 0.0) << "the problem has begun";
  const Admission admission = measurer.admit({1}, candidate("fast"));
  EXPECT_EQ(admission.first_us, 50.0);
  const double admitted_s = measurer.busy_s();
  EXPECT_GT(admitted_s, before_s);
  EXPECT_THAT(measurer.sample({1}, 2).readings, SizeIs(2));
  EXPECT_GT(measurer.busy_s(), admitted_s);
}

TEST_F(RemoteMeasurerTest, ReadingsTravelWithTheirSamples) {
  script(R"({"reading": true, "throttle": [{"from_sample": 2, "count": 1}]})");
  RemoteMeasurer& measurer = open();
  ASSERT_FALSE(measurer.admit({1}, candidate("any")).failure);
  const Samples samples = measurer.sample({1}, 3);
  EXPECT_THAT(samples.samples_us, testing::ElementsAre(100.0, 120.0, 100.0));
  ASSERT_THAT(samples.readings, SizeIs(3));
  for (const auto& reading : samples.readings) {
    ASSERT_TRUE(reading);
  }
  EXPECT_FALSE(is_throttled(*samples.readings[0]));
  EXPECT_TRUE(is_throttled(*samples.readings[1]));
  EXPECT_EQ(samples.readings[1]->sm_mhz, 1200.0);
  EXPECT_EQ(samples.readings[1]->power_w, 350.0);
  EXPECT_EQ(samples.readings[1]->temperature_c, 90.0);
  EXPECT_EQ(samples.readings[2]->clock_limits, 0x4U);
}

TEST_F(RemoteMeasurerTest, CountsByTheScript) {
  script(R"({"counts": {"any": {"gpu__time_duration.sum": 5500, "other": 1}}})");
  RemoteMeasurer& measurer = open();
  ASSERT_FALSE(measurer.admit({1}, candidate("any")).failure);
  const Counted counted = measurer.count({1}, {2, {"gpu__time_duration.sum", "unscripted"}});
  EXPECT_FALSE(counted.failure);
  const std::map<std::string, double> run{{"gpu__time_duration.sum", 5500.0}};
  EXPECT_THAT(counted.runs, testing::ElementsAre(run, run));
}

TEST_F(RemoteMeasurerTest, CountersThatCannotBeReadAreTheWorkersErrorAndCostNothing) {
  script(R"({"faults": [{"at": "count", "do": "refuse no permission"}]})");
  RemoteMeasurer& measurer = open();
  ASSERT_FALSE(measurer.admit({1}, candidate("any")).failure);
  try {
    static_cast<void>(measurer.count({1}, {1, {"m"}}));
    FAIL() << "counted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::gpu_failure);
    EXPECT_EQ(error.what_was_wrong(), "no permission");
    EXPECT_EQ(error.remedy(), "do what the script says");
  }
  EXPECT_THAT(measurer.sample({1}, 2).samples_us, SizeIs(2));
  EXPECT_EQ(measurer.workers_started(), 1);
}

TEST_F(RemoteMeasurerTest, ACandidateThatCrashesWhenCountedIsTriedAloneFirst) {
  script(R"({"faults": [{"label": "bad", "at": "count", "do": "signal 11"}]})");
  RemoteMeasurer& measurer = open();
  ASSERT_FALSE(measurer.admit({1}, candidate("first")).failure);
  ASSERT_FALSE(measurer.admit({2}, candidate("bad")).failure);
  const Counted bad = measurer.count({2}, {1, {"m"}});
  ASSERT_TRUE(bad.failure);
  EXPECT_THAT(outcome_summary(*bad.failure),
              AllOf(HasSubstr("signal 11"), HasSubstr("run alone in a fresh process")));
  EXPECT_FALSE(measurer.count({1}, {1, {"m"}}).failure) << "admitted again in another worker";
}

TEST_F(RemoteMeasurerTest, WithoutReadingsTheyAreAbsent) {
  script("{}");
  RemoteMeasurer& measurer = open();
  ASSERT_FALSE(measurer.admit({1}, candidate("any")).failure);
  const Samples samples = measurer.sample({1}, 2);
  ASSERT_THAT(samples.readings, SizeIs(2));
  EXPECT_FALSE(samples.readings[0] || samples.readings[1]);
}

TEST_F(RemoteMeasurerTest, WhatTheWorkerRefusesComesBackAsItIs) {
  script(R"({"wrong": {"bad": "half of it is missing"}, "unlaunchable": {"big": "too big"}})");
  RemoteMeasurer& measurer = open();
  const Admission wrong = measurer.admit({1}, candidate("bad"));
  ASSERT_TRUE(wrong.failure && std::holds_alternative<WrongResult>(*wrong.failure));
  EXPECT_EQ(std::get<WrongResult>(*wrong.failure).finding, "half of it is missing");
  const Admission big = measurer.admit({2}, candidate("big"));
  ASSERT_TRUE(big.failure && std::holds_alternative<Unlaunchable>(*big.failure));
  EXPECT_EQ(measurer.workers_started(), 1);
}

TEST_F(RemoteMeasurerTest, ScriptedTimesDriftAndTheFirstIsTheirOwn) {
  script(R"({"first_us": {"any": 130}, "drift_percent_per_sample": 1})");
  RemoteMeasurer& measurer = open();
  EXPECT_EQ(measurer.admit({1}, candidate("any")).first_us, 130.0);
  const Samples samples = measurer.sample({1}, 3);
  ASSERT_THAT(samples.samples_us, SizeIs(3));
  EXPECT_DOUBLE_EQ(samples.samples_us[0], 101.0);
  EXPECT_DOUBLE_EQ(samples.samples_us[2], 103.0);
}

class DeadlyFault : public RemoteMeasurerTest,
                    public testing::WithParamInterface<std::tuple<const char*, const char*>> {};

TEST_P(DeadlyFault, CostsOneCandidateAndTheOthersGoOn) {
  const auto [what, message] = GetParam();
  for (const char* at : {"admit", "sample", "recheck"}) {
    script(std::string(R"({"faults": [{"label": "bad", "at": ")") + at + R"(", "do": ")" + what +
           R"("}]})");
    RemoteMeasurer& measurer = open();
    EXPECT_EQ(median_us(measure_alone(measurer, candidate("first"))), 100.0) << at;
    const Outcome outcome = measure_alone(measurer, candidate("bad"));
    ASSERT_TRUE(std::holds_alternative<Crashed>(outcome)) << at << outcome_summary(outcome);
    EXPECT_THAT(outcome_summary(outcome),
                AllOf(HasSubstr(message), HasSubstr("run alone in a fresh process")))
        << at;
    EXPECT_EQ(median_us(measure_alone(measurer, candidate("last"))), 100.0) << at;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, DeadlyFault,
    testing::Values(std::tuple{"exit 3", "exit status 3"}, std::tuple{"signal 11", "signal 11"},
                    std::tuple{"garbage", "nonsense"},
                    std::tuple{"crash CUDA_ERROR_ILLEGAL_ADDRESS", "CUDA_ERROR_ILLEGAL_ADDRESS"}));

TEST_F(RemoteMeasurerTest, AHungCandidateTimesOutAndTheOthersGoOn) {
  script(R"({"faults": [{"label": "bad", "at": "sample", "after": 3, "do": "hang"}]})");
  RemoteMeasurer& measurer = open();
  const Outcome outcome = measure_alone(measurer, candidate("bad"));
  ASSERT_TRUE(std::holds_alternative<TimedOut>(outcome)) << outcome_summary(outcome);
  EXPECT_GE(std::get<TimedOut>(outcome).deadline_ms, 1000.0);
  EXPECT_EQ(median_us(measure_alone(measurer, candidate("good"))), 100.0);
}

TEST_F(RemoteMeasurerTest, ACrashThatOthersHaveCausedIsNotHeldAgainstTheSuspect) {
  script(R"({"faults": [{"label": "suspect", "at": "sample", "after": 3, "after_others": true,
                         "do": "signal 9"}]})");
  RemoteMeasurer& measurer = open();
  EXPECT_EQ(median_us(measure_alone(measurer, candidate("culprit"))), 100.0);
  const Outcome outcome = measure_alone(measurer, candidate("suspect"));
  EXPECT_EQ(median_us(outcome), 100.0);
  EXPECT_THAT(std::get<Measured>(outcome).timing.samples_us, AllOf(SizeIs(5), Each(100.0)));
  EXPECT_EQ(measurer.workers_started(), 2);
}

// Each process takes only three samples of the candidate, so no step gets all of its samples from
// one.
TEST_F(RemoteMeasurerTest, AWorkerThatSomebodyKillsIsNobodysFault) {
  for (const char* signal : {"signal 9", "signal 15"}) {
    script(std::string(R"({"faults": [{"label": "victim", "at": "sample", "after": 3, "do": ")") +
           signal + R"("}]})");
    RemoteMeasurer& measurer = open();
    EXPECT_FALSE(measurer.admit({1}, candidate("victim")).failure);
    const Samples samples = measurer.sample({1}, 5);
    EXPECT_FALSE(samples.failure) << outcome_summary(*samples.failure);
    EXPECT_THAT(samples.samples_us, AllOf(SizeIs(5), Each(100.0)));
    EXPECT_THAT(samples.readings, SizeIs(5));
    EXPECT_EQ(measurer.workers_started(), 3);
  }
}

TEST_F(RemoteMeasurerTest, WhoIsKilledAgainAndAgainIsNotTriedForEver) {
  for (const char* at : {"admit", "sample", "recheck"}) {
    script(std::string(R"({"faults": [{"label": "bad", "at": ")") + at +
           R"(", "do": "signal 9"}]})");
    RemoteMeasurer& measurer = open();
    EXPECT_EQ(median_us(measure_alone(measurer, candidate("first"))), 100.0) << at;
    const Outcome outcome = measure_alone(measurer, candidate("bad"));
    ASSERT_TRUE(std::holds_alternative<Crashed>(outcome)) << at << outcome_summary(outcome);
    EXPECT_THAT(outcome_summary(outcome),
                AllOf(HasSubstr("signal 9"), HasSubstr("6 times in a row")));
    EXPECT_EQ(measurer.workers_started(), 6);
    EXPECT_EQ(median_us(measure_alone(measurer, candidate("last"))), 100.0) << at;
  }
}

TEST_F(RemoteMeasurerTest, AWorkerThatIsKilledAtItsStartIsNotTriedForEver) {
  script(R"({"faults": [{"at": "hello", "do": "signal 9"}]})");
  EXPECT_THAT(error_of_open(), AllOf(HasSubstr("did not start"), HasSubstr("signal 9")));
}

// The candidate never crashes alone, so each single crash may be caused by another candidate.
TEST_F(RemoteMeasurerTest, WhoHasCrashedThreeTimesIsToBlame) {
  script(R"({"faults": [{"label": "bad", "at": "sample", "after": 1, "after_others": true,
                         "do": "exit 3"}]})");
  RemoteMeasurer& measurer = open();
  EXPECT_FALSE(measurer.admit({1}, candidate("good")).failure);
  EXPECT_FALSE(measurer.admit({2}, candidate("bad")).failure);
  std::optional<Outcome> failure;
  int taken = 0;
  for (; !failure && taken < 50; ++taken) {
    EXPECT_FALSE(measurer.sample({1}, 1).failure);
    failure = measurer.sample({2}, 1).failure;
  }
  ASSERT_TRUE(failure);
  EXPECT_THAT(outcome_summary(*failure), AllOf(HasSubstr("exit status 3"), HasSubstr("number 3")));
  EXPECT_GT(taken, 3);
  EXPECT_FALSE(measurer.sample({1}, 1).failure);
}

TEST_F(RemoteMeasurerTest, InterleavedCandidatesSurviveTheCrashOfOne) {
  script(R"({"faults": [{"label": "bad", "at": "sample", "after": 1, "do": "exit 1"}]})");
  RemoteMeasurer& measurer = open();
  EXPECT_FALSE(measurer.admit({1}, candidate("good")).failure);
  EXPECT_FALSE(measurer.admit({2}, candidate("bad")).failure);
  EXPECT_THAT(measurer.sample({1}, 3).samples_us, SizeIs(3));
  EXPECT_TRUE(measurer.sample({2}, 3).failure);
  const Samples again = measurer.sample({1}, 3);
  EXPECT_FALSE(again.failure);
  EXPECT_THAT(again.samples_us, SizeIs(3));
  EXPECT_FALSE(measurer.recheck({1}));
  measurer.retire({1});
}

class SamplesAhead : public RemoteMeasurerTest {
 protected:
  /// Opens a measurer and admits candidates 1 and 2, which take 50 and 70 us.
  RemoteMeasurer& open_with_two(const std::string& faults = "[]") {
    script(fmt::format(R"({{"us": {{"first": 50, "second": 70}}, "log": "{}", "faults": {}}})",
                       log_path().string(), faults));
    RemoteMeasurer& measurer = open();
    EXPECT_FALSE(measurer.admit({1}, candidate("first")).failure);
    EXPECT_FALSE(measurer.admit({2}, candidate("second")).failure);
    return measurer;
  }
  static SampleRequest one(int round, std::optional<CandidateId> then = {}) {
    return {1, round, Extent::whole, then};
  }
  [[nodiscard]] int times_logged(const std::string& line) const {
    std::ifstream log(log_path());
    int times = 0;
    for (std::string read; std::getline(log, read);) {
      times += static_cast<int>(read == line);
    }
    return times;
  }
  /// Waits up to 10 seconds for the line. Returns true if it is logged.
  [[nodiscard]] bool is_logged(const std::string& line) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (times_logged(line) == 0 && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return times_logged(line) > 0;
  }

 private:
  [[nodiscard]] std::filesystem::path log_path() const { return folder_.path() / "log"; }

  fixtures::TempFolder folder_;
};

TEST_F(SamplesAhead, AreBegunBeforeTheyAreAskedForAndTakenOnce) {
  RemoteMeasurer& measurer = open_with_two();
  EXPECT_THAT(measurer.sample({1}, one(0, CandidateId{2})).samples_us, ElementsAre(50.0));
  EXPECT_TRUE(is_logged("sampled 70 second"));
  EXPECT_THAT(measurer.sample({2}, one(0, CandidateId{1})).samples_us, ElementsAre(70.0));
  EXPECT_THAT(measurer.sample({1}, one(0)).samples_us, ElementsAre(50.0));
  EXPECT_EQ(times_logged("sampled 70 second"), 1);
  EXPECT_EQ(times_logged("sampled 50 first"), 2);
}

TEST_F(SamplesAhead, MayTurnOutNotToBeWanted) {
  RemoteMeasurer& measurer = open_with_two();
  static_cast<void>(measurer.sample({1}, one(0, CandidateId{2})));
  EXPECT_THAT(measurer.sample({1}, one(1)).samples_us, ElementsAre(50.0));
  static_cast<void>(measurer.sample({1}, one(1, CandidateId{2})));
  EXPECT_THAT(measurer.sample({2}, one(2)).samples_us, ElementsAre(70.0)) << "another round";
  static_cast<void>(measurer.sample({1}, one(2, CandidateId{2})));
  EXPECT_FALSE(measurer.recheck({1}));
  static_cast<void>(measurer.sample({1}, one(3, CandidateId{2})));
  measurer.retire({2});
  EXPECT_FALSE(measurer.admit({3}, candidate("third")).failure);
  EXPECT_EQ(times_logged("sampled 70 second"), 5);
  EXPECT_EQ(measurer.workers_started(), 1);
}

TEST_F(SamplesAhead, FailuresOfThoseThatAreNotWantedAreNotLost) {
  RemoteMeasurer& measurer =
      open_with_two(R"([{"label": "second", "at": "sample", "do": "wrong numbers"}])");
  static_cast<void>(measurer.sample({1}, one(0, CandidateId{2})));
  EXPECT_THAT(measurer.sample({1}, one(1)).samples_us, ElementsAre(50.0));
  const auto failure = measurer.sample({2}, one(1)).failure;
  ASSERT_TRUE(failure);
  EXPECT_THAT(outcome_summary(*failure), HasSubstr("numbers"));
  EXPECT_EQ(measurer.workers_started(), 1);
}

TEST_F(SamplesAhead, VerificationsOfThoseThatAreNotWantedAreNotLost) {
  RemoteMeasurer& measurer = open_with_two();
  CandidateKernel on_part = candidate("third");
  on_part.part_geometry = LaunchGeometry{};
  EXPECT_FALSE(measurer.admit({3}, on_part).failure);
  static_cast<void>(measurer.sample({1}, one(0, CandidateId{3})));
  EXPECT_FALSE(measurer.sample({1}, one(1)).verification);
  const Samples samples = measurer.sample({3}, one(1));
  ASSERT_TRUE(samples.verification);
  EXPECT_EQ(samples.verification->method, "scripted, on the whole");
  EXPECT_FALSE(measurer.sample({3}, one(2)).verification);
}

TEST_F(SamplesAhead, CrashesAreTheirOwnCandidates) {
  for (const bool wanted : {true, false}) {
    RemoteMeasurer& measurer =
        open_with_two(R"([{"label": "second", "at": "sample", "do": "exit 3"}])");
    EXPECT_FALSE(measurer.sample({1}, one(0, CandidateId{2})).failure);
    if (!wanted) {
      EXPECT_THAT(measurer.sample({1}, one(1)).samples_us, ElementsAre(50.0));
    }
    const auto failure = measurer.sample({2}, one(0)).failure;
    ASSERT_TRUE(failure);
    EXPECT_THAT(outcome_summary(*failure), HasSubstr("exit status 3"));
    EXPECT_THAT(measurer.sample({1}, one(2)).samples_us, ElementsAre(50.0));
  }
}

TEST_F(RemoteMeasurerTest, AWorkerInWhichAKernelWroteAstrayIsReplaced) {
  script(R"({"faults": [{"label": "stray", "at": "admit", "do": "stray"}]})");
  RemoteMeasurer& measurer = open();
  EXPECT_TRUE(std::holds_alternative<WrongResult>(measure_alone(measurer, candidate("stray"))));
  EXPECT_EQ(median_us(measure_alone(measurer, candidate("good"))), 100.0);
  EXPECT_EQ(measurer.workers_started(), 2);
}

TEST_F(RemoteMeasurerTest, WhatTheWorkerPrintedIsInTheMessage) {
  script(R"({"faults": [{"at": "hello", "do": "print the driver is unwell"},
                        {"at": "begin_problem", "do": "exit 4"}]})");
  EXPECT_THAT(error_of_open(), AllOf(HasSubstr("exit status 4"), HasSubstr("driver is unwell")));
}

TEST_F(RemoteMeasurerTest, AnotherVersionOfTheProtocolIsRefused) {
  script(R"({"version": 99})");
  EXPECT_THAT(error_of_open(), HasSubstr("version 99"));
}

TEST_F(RemoteMeasurerTest, AProgramThatIsNotThereIsNamed) {
  try {
    const RemoteMeasurer measurer({{"/nonexistent/worker"}, 0, {}}, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("/nonexistent/worker"), HasSubstr("No such file")));
  }
}

TEST_F(RemoteMeasurerTest, SaysHowFastDenseProductsAndReadsAre) {
  script(R"({"matmul_tflops": 812.5, "matmul_mhz": 1755, "read_gb_per_s": 3100})");
  const DeviceRates rates = open().device_rates({});
  EXPECT_EQ(rates.matmul.tflops, 812.5);
  EXPECT_EQ(rates.matmul.sm_mhz, 1755.0);
  EXPECT_EQ(rates.memory.value().read_gb_per_s, 3100.0);
}

/// Dense products fail in several ways. A candidate can still be measured afterwards.
class DenseProductsFail : public RemoteMeasurerTest,
                          public testing::WithParamInterface<std::pair<const char*, const char*>> {
};

TEST_P(DenseProductsFail, AndCostOneWorker) {
  script(fmt::format(R"({{"faults": [{{"at": "device_rates", "do": "{}"}}]}})", GetParam().first));
  RemoteMeasurer& measurer = open();
  try {
    static_cast<void>(measurer.device_rates({}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("the rates of products and reads cannot be measured"),
                                    HasSubstr(GetParam().second)));
  }
  EXPECT_EQ(median_us(measure_alone(measurer, candidate("a"))), 100.0);
  EXPECT_EQ(measurer.workers_started(), 2);
}

INSTANTIATE_TEST_SUITE_P(Ways, DenseProductsFail,
                         testing::Values(std::pair{"refuse no tensor cores", "no tensor cores"},
                                         std::pair{"exit 3", "3"},
                                         std::pair{"garbage", "nonsense"}));

}  // namespace
}  // namespace fatune
