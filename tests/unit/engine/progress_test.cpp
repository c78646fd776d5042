#include "engine/progress.hpp"

#include <gmock/gmock.h>

#include <thread>

#include "model/problem.hpp"

namespace fatune {
namespace {

using testing::ContainsRegex;
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

/// A line is due even while nothing happens.
TEST(Progress, OffATerminalALineComesAtIntervals) {
  using std::chrono::milliseconds;
  testing::internal::CaptureStderr();
  Progress progress({}, 2, Progress::Work::steps, milliseconds(20));
  progress.begin_problem({1, 128, 1, 64, DType::fp16, false});
  std::this_thread::sleep_for(milliseconds(200));
  progress.finish();
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, HasSubstr("[0/2] " + kProblem + ", ETA ?\n[0/2] " + kProblem + ", ETA ?\n"));
  testing::internal::CaptureStderr();
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "none after the end";
}

/// Where problems share their kernels, most of the steps cost nothing.
TEST(Progress, TheTimeLeftFollowsTheKernels) {
  testing::internal::CaptureStderr();
  Progress progress({}, 400, Progress::Work::emulation);
  for (int kernel = 0; kernel < 100; ++kernel) {
    progress.expect_kernel();
  }
  progress.end_problem({});
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  for (int kernel = 0; kernel < 10; ++kernel) {
    progress.compiled(2.0);
    progress.emulated(1.0);
    progress.step();
  }
  progress.end_problem({});
  for (int kernel = 0; kernel < 90; ++kernel) {
    progress.compiled(2.0);
  }
  progress.end_problem({});
  progress.finish();
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              ContainsRegex("\\[0/400\\].*ETA \\?.*\n"
                            "\\[10/400\\].*ETA 0:0[2-6]:.*\n"  // 9 times 0.3 s, or a little more
                            "\\[10/400\\].*ETA 0:0[01]:"));    // 90 of 300 s of CPU time are left
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
