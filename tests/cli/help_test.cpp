#include "cli/program.hpp"

namespace fatune::testing_cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class Help : public ProgramTest {};

/// The layout of CLI11's help depends on its version. The golden files are from this version.
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
       {"sweep",   "run",     "verify-winner", "cases",      "check",     "debug",   "emulate",
        "history", "show",    "report",        "compare",    "list",      "compile", "sass",
        "profile", "export",  "import",        "merge",      "evaluate",  "cluster", "cache",
        "predict", "devices", "doctor",        "completion", "new-family"}) {
    const ProcessResult result = fatune({command, "--help"});
    expect_ok(result);
    EXPECT_THAT(result.out, HasSubstr("Examples:\n  fatune ")) << command;
    if (has_golden_layout()) {
      expect_golden(result.out, std::string("help_") + command + ".txt");
    }
  }
}

TEST_F(Help, TheCommandsOfSassHaveExamplesOfTheirOwn) {
  for (const char* command : {"diff", "map", "why", "cfg", "clean"}) {
    const ProcessResult result = fatune({"sass", command, "--help"});
    expect_ok(result);
    EXPECT_THAT(result.out, HasSubstr(std::string("Examples:\n  fatune sass ") + command))
        << command;
    EXPECT_THAT(result.out, testing::Not(HasSubstr("fatune sweep")));
  }
}

TEST_F(Help, HelpIsACommandToo) {
  EXPECT_EQ(fatune({"help"}).out, fatune({"--help"}).out);
  EXPECT_EQ(fatune({"help", "sweep"}).out, fatune({"sweep", "--help"}).out);
  EXPECT_EQ(fatune({"help", "sass", "map"}).out, fatune({"sass", "map", "--help"}).out);
  expect_error(fatune({"help", "swep"}), ExitCode::usage, {"no command 'swep'", "'sweep'"});
  expect_error(fatune({"help", "sass", "maps"}), ExitCode::usage, {"no command 'maps'", "'map'"});
  expect_error(fatune({"help", "sweep", "map"}), ExitCode::usage,
               {"no command 'map'", "'sweep' has no commands"});
}

TEST_F(Help, VersionTellsWhatAReportOfAMistakeShouldName) {
  const std::string text = fatune({"--version"}).out;
  EXPECT_THAT(text, testing::ContainsRegex("^fatune [0-9.]+\ncommit [0-9a-z+]+\nbuild [A-Za-z]*\n"
                                           "NVRTC [0-9]+\\.[0-9]\ndriver [0-9a-z.]+\n$"));
  EXPECT_EQ(fatune({"-V"}).out, text);
  process_.environment["FATUNE_LIBNVML"] = FATUNE_FAKE_NVML;
  process_.environment["FATUNE_FAKE_NVML_DRIVER"] = "580.1";
  EXPECT_THAT(fatune({"-V"}).out, HasSubstr("\ndriver 580.1\n"));
  process_.environment["FATUNE_LIBNVML"] = "/nonexistent/libnvidia-ml.so.1";
  EXPECT_THAT(fatune({"-V"}).out, HasSubstr("\ndriver none\n"));
}

TEST_F(Help, VersionAnswersAtOnce) {
  const auto start = std::chrono::steady_clock::now();
  const ProcessResult result = fatune({"--version"});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  expect_ok(result);
  EXPECT_THAT(result.out, StartsWith("fatune "));
  EXPECT_LT(took.count(), 0.5);  // 50 ms on a quiet machine, as scripts/ measures
}

}  // namespace
}  // namespace fatune::testing_cli
