#include "sanitizer/sanitizer_command.hpp"

#include <gmock/gmock.h>

#include "core/error.hpp"

namespace fatune {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

std::vector<std::string> words_of(SanitizerTool tool) {
  return sanitizer_words(
      {"/opt/compute-sanitizer", tool, "/tmp/50%", {"flash_forward_kernel", "toy"}});
}

TEST(SanitizerCommand, LooksAtTheCandidateAloneAndLogsToAFileOfEachProcess) {
  EXPECT_THAT(
      words_of(SanitizerTool::racecheck),
      ElementsAre("/opt/compute-sanitizer", "--tool", "racecheck", "--log-file", "/tmp/50%%/%p.log",
                  "--show-backtrace", "no", "--kernel-name", "kns=flash_forward_kernel,kns=toy"));
}

TEST(SanitizerCommand, InitcheckMustSeeWhoWroteTheInputs) {
  EXPECT_THAT(words_of(SanitizerTool::initcheck), Not(Contains("--kernel-name")));
}

TEST(SanitizerCommand, MemcheckDoesNotReportWhatTheDriverSaysAnyway) {
  EXPECT_THAT(words_of(SanitizerTool::memcheck), Contains("--report-api-errors"));
}

TEST(SanitizerTools, AreReadFromALists) {
  EXPECT_THAT(parse_sanitizer_tools("racecheck,memcheck,racecheck"),
              ElementsAre(SanitizerTool::racecheck, SanitizerTool::memcheck));
  EXPECT_EQ(parse_sanitizer_tools("all").size(), 4U);
  for (const char* wrong : {"", "leakcheck", "memcheck,", "Memcheck"}) {
    EXPECT_THROW((void)parse_sanitizer_tools(wrong), Error) << wrong;
  }
}

TEST(SanitizerTools, HaveTheNamesThatTheyAreReadBy) {
  for (const SanitizerTool tool : parse_sanitizer_tools("all")) {
    EXPECT_THAT(parse_sanitizer_tools(sanitizer_tool_name(tool)), ElementsAre(tool));
  }
}

}  // namespace
}  // namespace fatune
