#include "unit/emulator/planted_fault.hpp"

#include <gmock/gmock.h>

#include <fmt/format.h>

namespace fatune::emulate {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

namespace {

/// Expects a run that keeps both ends to have the same findings and output, and to name the other
/// access of each finding of two accesses.
void expect_both_ends(const std::string& text, const Emulated& done, Trial trial) {
  trial.both_ends = true;
  const Emulated again = emulate(text, trial);
  EXPECT_EQ(again.findings(), done.findings()) << name_of(trial.schedule);
  EXPECT_EQ(again.output, done.output) << name_of(trial.schedule);
  for (const Finding& finding : again.result.findings.all()) {
    EXPECT_EQ(finding.other.has_value(), has_two_ends(finding.kind))
        << finding.text << ", " << name_of(trial.schedule);
    EXPECT_TRUE(!finding.other || finding.access) << finding.text;
  }
}

}  // namespace

void expect_found(const std::string& text, const std::string& kind, const std::string& says,
                  Trial trial, bool alone) {
  const bool marked = text.find("// here") != std::string::npos;
  const std::string where =
      marked ? fmt::format("{} at line {} by", kind, marked_line(text)) : kind;
  for (const Schedule& schedule : all_schedules()) {
    trial.schedule = schedule;
    const Emulated done = emulate(text, trial);
    EXPECT_THAT(done.findings(), Contains(AllOf(StartsWith(where), HasSubstr(says))))
        << name_of(schedule);
    if (alone) {
      EXPECT_THAT(done.findings(), Each(StartsWith(kind))) << name_of(schedule);
    }
    expect_both_ends(text, done, trial);
  }
}

void expect_clean(const std::string& text, Trial trial) {
  std::vector<Schedule> schedules = all_schedules();
  schedules.push_back({Timing::lagging, 0});
  schedules.push_back({Timing::lagging, 1});
  for (const Schedule& schedule : schedules) {
    trial.schedule = schedule;
    const Emulated done = emulate(text, trial);
    EXPECT_THAT(done.findings(), IsEmpty()) << name_of(schedule);
    EXPECT_TRUE(done.result.finished) << name_of(schedule);
  }
}

}  // namespace fatune::emulate
