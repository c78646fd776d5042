// The parent's side of the worker's protocol, against a program with scripted faults.
#include "measure/remote_measurer.hpp"

#include <gmock/gmock.h>
#include <signal.h>

#include "core/error.hpp"
#include "unit/gpu/fake_driver.hpp"

namespace fatune {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::SizeIs;

const Problem kProblem{1, 128, 1, 64, DType::fp16, false};

Candidate candidate(const std::string& label) {
  auto artifact = std::make_shared<Artifact>();
  artifact->lowered_name = "kernel";
  artifact->cubin = {'c', 'u'};
  return {label, std::move(artifact), {}};
}

class RemoteMeasurerTest : public testing::Test {
 protected:
  void script(const std::string& text) {
    script_.reset();
    script_ = std::make_unique<gpu::ScopedVariable>("FATUNE_FAKE_WORKER", text);
  }
  RemoteMeasurer& open() {
    MeasurePolicy policy;
    policy.warmup = 2;
    policy.repeats = 5;
    WorkerSettings settings{FATUNE_FAKE_WORKER_PROGRAM, 0, {}};
    settings.deadlines.floor = std::chrono::milliseconds(1000);
    measurer_.reset();
    measurer_ = std::make_unique<RemoteMeasurer>(settings, policy);
    measurer_->begin_problem(kProblem, {});
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
  std::unique_ptr<gpu::ScopedVariable> script_;
  std::unique_ptr<RemoteMeasurer> measurer_;
};

TEST_F(RemoteMeasurerTest, MeasuresByTheScript) {
  script(R"({"us": {"fast": 50, "slow": 70}})");
  RemoteMeasurer& measurer = open();
  EXPECT_EQ(measurer.limits().name, "Scripted GPU");
  const Outcome outcome = measurer.measure(candidate("fast"));
  EXPECT_EQ(median_us(outcome), 50.0);
  EXPECT_THAT(std::get<Measured>(outcome).timing.samples_us, SizeIs(5));
  EXPECT_EQ(median_us(measurer.measure(candidate("slow"))), 70.0);
  EXPECT_EQ(measurer.workers_started(), 1);
}

class DeadlyFault : public RemoteMeasurerTest,
                    public testing::WithParamInterface<std::tuple<const char*, const char*>> {};

TEST_P(DeadlyFault, CostsOneCandidateAndTheOthersGoOn) {
  const auto [what, message] = GetParam();
  for (const char* at : {"admit", "sample", "recheck"}) {
    script(std::string(R"({"faults": [{"label": "bad", "at": ")") + at + R"(", "do": ")" + what +
           R"("}]})");
    RemoteMeasurer& measurer = open();
    EXPECT_EQ(median_us(measurer.measure(candidate("first"))), 100.0) << at;
    const Outcome outcome = measurer.measure(candidate("bad"));
    ASSERT_TRUE(std::holds_alternative<Crashed>(outcome)) << at << outcome_summary(outcome);
    EXPECT_THAT(outcome_summary(outcome),
                AllOf(HasSubstr(message), HasSubstr("run alone in a fresh process")))
        << at;
    EXPECT_EQ(median_us(measurer.measure(candidate("last"))), 100.0) << at;
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
  const Outcome outcome = measurer.measure(candidate("bad"));
  ASSERT_TRUE(std::holds_alternative<TimedOut>(outcome)) << outcome_summary(outcome);
  EXPECT_GE(std::get<TimedOut>(outcome).deadline_ms, 1000.0);
  EXPECT_EQ(median_us(measurer.measure(candidate("good"))), 100.0);
}

TEST_F(RemoteMeasurerTest, ACrashThatOthersHaveCausedIsNotHeldAgainstTheSuspect) {
  script(R"({"faults": [{"label": "suspect", "at": "sample", "after": 3, "after_others": true,
                         "do": "signal 9"}]})");
  RemoteMeasurer& measurer = open();
  EXPECT_EQ(median_us(measurer.measure(candidate("culprit"))), 100.0);
  const Outcome outcome = measurer.measure(candidate("suspect"));
  EXPECT_EQ(median_us(outcome), 100.0);
  EXPECT_THAT(std::get<Measured>(outcome).timing.samples_us, AllOf(SizeIs(5), Each(100.0)));
  EXPECT_EQ(measurer.workers_started(), 2);
}

TEST_F(RemoteMeasurerTest, InterleavedCandidatesSurviveTheCrashOfOne) {
  script(R"({"faults": [{"label": "bad", "at": "sample", "after": 1, "do": "exit 1"}]})");
  RemoteMeasurer& measurer = open();
  EXPECT_FALSE(measurer.admit(1, candidate("good")).failure);
  EXPECT_FALSE(measurer.admit(2, candidate("bad")).failure);
  EXPECT_THAT(measurer.sample(1, 3).samples_us, SizeIs(3));
  EXPECT_TRUE(measurer.sample(2, 3).failure);
  const Samples again = measurer.sample(1, 3);
  EXPECT_FALSE(again.failure);
  EXPECT_THAT(again.samples_us, SizeIs(3));
  EXPECT_FALSE(measurer.recheck(1));
  measurer.retire(1);
}

TEST_F(RemoteMeasurerTest, AWorkerInWhichAKernelWroteAstrayIsReplaced) {
  script(R"({"faults": [{"label": "stray", "at": "admit", "do": "stray"}]})");
  RemoteMeasurer& measurer = open();
  EXPECT_TRUE(std::holds_alternative<WrongResult>(measurer.measure(candidate("stray"))));
  EXPECT_EQ(median_us(measurer.measure(candidate("good"))), 100.0);
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
    const RemoteMeasurer measurer({"/nonexistent/worker", 0, {}}, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("/nonexistent/worker"), HasSubstr("No such file")));
  }
}

}  // namespace
}  // namespace fatune
