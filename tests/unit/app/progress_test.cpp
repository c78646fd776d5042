#include "app/progress.hpp"

#include <gmock/gmock.h>

namespace fatune {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string shown(const OutputOptions& output) {
  testing::internal::CaptureStderr();
  Progress progress(output, 2);
  progress.begin_problem("b1 s128");
  progress.step();
  progress.step();
  progress.end_problem(ProblemReport{});
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
  EXPECT_EQ(text, "[2/2] b1 s128, ETA 0:00: 0 ranked, 0 failed, nothing ranked\n");
}

TEST(Progress, OneLineRedrawnOnATerminal) {
  OutputOptions output;
  output.live_progress = true;
  EXPECT_THAT(shown(output), HasSubstr("\r\x1b[K[0/2] b1 s128, ETA ?"));
}

TEST(Progress, NothingWhenQuiet) {
  OutputOptions output;
  output.live_progress = true;
  output.verbosity = Verbosity::quiet;
  EXPECT_EQ(shown(output), "");
}

}  // namespace
}  // namespace fatune
