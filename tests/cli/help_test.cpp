#include "cli/program.hpp"

namespace fatune::testing_cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class Help : public ProgramTest {};

TEST_F(Help, WithoutArgumentsPrintsTheOverview) {
  const ProcessResult result = fatune({});
  expect_ok(result);
  expect_golden(result.out, "help.txt");
  EXPECT_EQ(fatune({"--help"}).out, result.out);
}

TEST_F(Help, EveryCommandHasItsOwnWithExamples) {
  for (const char* command : {"sweep", "run", "list", "compile", "devices", "doctor"}) {
    const ProcessResult result = fatune({command, "--help"});
    expect_ok(result);
    EXPECT_THAT(result.out, HasSubstr("Examples:\n  fatune ")) << command;
    expect_golden(result.out, std::string("help_") + command + ".txt");
  }
}

TEST_F(Help, VersionAnswersAtOnce) {
  const auto start = std::chrono::steady_clock::now();
  const ProcessResult result = fatune({"--version"});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  expect_ok(result);
  EXPECT_THAT(result.out, StartsWith("fatune "));
  EXPECT_LT(took.count(), 0.5);  // 50 ms on a quiet machine: scripts/ measures that
}

}  // namespace
}  // namespace fatune::testing_cli
