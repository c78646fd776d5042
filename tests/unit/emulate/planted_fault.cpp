#include "planted_fault.hpp"

#include <gmock/gmock.h>

#include <fmt/format.h>

namespace fatune::emulate {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

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
  }
}

void expect_clean(const std::string& text, Trial trial) {
  for (const Schedule& schedule : all_schedules()) {
    trial.schedule = schedule;
    const Emulated done = emulate(text, trial);
    EXPECT_THAT(done.findings(), IsEmpty()) << name_of(schedule);
    EXPECT_TRUE(done.result.finished) << name_of(schedule);
  }
}

}  // namespace fatune::emulate
