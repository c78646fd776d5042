#include "app/console/progress.hpp"

#include <gmock/gmock.h>

#include <thread>

#include "attention/problem.hpp"

namespace fatune {
namespace {

using testing::HasSubstr;

const std::string kProblem = describe({1, 128, 1, 64, DType::fp16, false});

std::string shown(const OutputOptions& output) {
  testing::internal::CaptureStderr();
  Progress progress(output, 2);
  ProblemReport report;
  report.problem = {1, 128, 1, 64, DType::fp16, false};
  progress.begin_problem(report.problem);
  progress.step();
  progress.step();
  progress.end_problem(report);
  progress.finish();
  return testing::internal::GetCapturedStderr();
}

TEST(DurationText, HasHoursOnlyWhenThereAreSome) {
  EXPECT_EQ(duration_text(std::chrono::seconds(42)), "0:42");
  EXPECT_EQ(duration_text(std::chrono::seconds(3599)), "59:59");
  EXPECT_EQ(duration_text(std::chrono::seconds(3780)), "1:03:00");
}

TEST(Progress, PlainLinesOffATerminal) {
  const std::string text = shown({});
  EXPECT_EQ(text, "[2/2] " + kProblem + ", ETA 0:00: 0 ranked, 0 failed, nothing ranked\n");
}

TEST(Progress, CountsWhereNobodyKnowsHowManyThereWillBe) {
  testing::internal::CaptureStderr();
  Progress progress({}, 0);
  ProblemReport report;
  report.problem = {1, 128, 1, 64, DType::fp16, false};
  progress.begin_problem(report.problem);
  progress.step();
  progress.end_problem(report);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "[1] " + kProblem + ": 0 ranked, 0 failed, nothing ranked\n");
}

TEST(Progress, OneLineRedrawnOnATerminal) {
  OutputOptions output;
  output.live_progress = true;
  EXPECT_THAT(shown(output), HasSubstr("\r\x1b[K[0/2] " + kProblem + ", ETA ?"));
}

TEST(Progress, SeveralGpusTellAtTheSameTime) {
  constexpr int kSteps = 500;
  testing::internal::CaptureStderr();
  Progress progress({}, 2 * kSteps);
  {
    const auto work = [&] {
      for (int i = 0; i < kSteps; ++i) {
        progress.step();
      }
    };
    const std::jthread first(work);
    const std::jthread second(work);
  }
  progress.end_problem({});
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("[1000/1000]"));
}

TEST(Progress, NothingWhenQuiet) {
  OutputOptions output;
  output.live_progress = true;
  output.verbosity = Verbosity::quiet;
  EXPECT_EQ(shown(output), "");
}

}  // namespace
}  // namespace fatune
