#include "cli/program.hpp"

namespace fatune::testing_cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class Help : public ProgramTest {};

/// CLI11 lays help out, a little differently in each version: the golden files are of this one.
bool has_golden_layout() { return std::string(FATUNE_CLI11_VERSION) == "2.1.2"; }

TEST_F(Help, WithoutArgumentsPrintsTheOverview) {
  const ProcessResult result = fatune({});
  expect_ok(result);
  EXPECT_EQ(fatune({"--help"}).out, result.out);
  EXPECT_THAT(result.out, HasSubstr("fatune sweep --seq 4096 --dhead 128"));
  if (has_golden_layout()) {
    expect_golden(result.out, "help.txt");
  }
}

TEST_F(Help, EveryCommandHasItsOwnWithExamples) {
  for (const char* command :
       {"sweep", "run", "verify-winner", "check", "debug", "emulate", "history", "show", "list",
        "compile", "sass", "profile", "devices", "doctor"}) {
    const ProcessResult result = fatune({command, "--help"});
    expect_ok(result);
    EXPECT_THAT(result.out, HasSubstr("Examples:\n  fatune ")) << command;
    if (has_golden_layout()) {
      expect_golden(result.out, std::string("help_") + command + ".txt");
    }
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
