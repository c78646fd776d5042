// Tests output on a terminal: both streams are pseudo-terminals.
#include "cli/program.hpp"

#include <array>
#include <regex>
#include <sstream>

namespace fatune::testing_cli {
namespace {

using testing::HasSubstr;
using testing::Not;

using Lines = std::vector<std::string>;

constexpr std::array<unsigned short, 2> kNarrow{80, 60};
constexpr std::array<unsigned short, 2> kNarrowest{30, 15};

Lines split(const std::string& text, char at) {
  Lines lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line, at);) {
    lines.push_back(line);
  }
  return lines;
}

std::string without_colours(const std::string& text) {
  static const std::regex colour("\x1b\\[[0-9;]*m");
  return std::regex_replace(text, colour, "");
}

/// Counts only lines that could have been broken: a path stays whole.
std::size_t widest_line(const std::string& text) {
  std::size_t width = 0;
  for (const std::string& line : split(without_colours(text), '\n')) {
    const bool one_word = line.find(' ', line.find_first_not_of(' ')) == std::string::npos;
    width = std::max(width, one_word ? 0 : line.size());
  }
  return width;
}

/// The live lines of progress, each as it was drawn.
Lines drawn_lines(const std::string& err) {
  Lines drawn;
  for (std::string line : split(err, '\r')) {
    constexpr std::string_view kWipe = "\x1b[K";
    if (line.starts_with(kWipe) && line.find('\n') == std::string::npos) {
      drawn.push_back(line.substr(kWipe.size()));
    }
  }
  return drawn;
}

class Terminal : public ProgramTest {
 protected:
  ProcessResult at(unsigned short columns, const std::vector<std::string>& arguments) {
    process_.terminal_columns = columns;
    return fatune(arguments);
  }

  /// Checks that nothing on standard output is wider than the terminal, at 80 and 60 columns.
  void expect_fits(const std::vector<std::string>& arguments) {
    for (const unsigned short columns : kNarrow) {
      const ProcessResult result = at(columns, arguments);
      EXPECT_LE(widest_line(result.out), columns) << result.out;
      EXPECT_GT(result.out.size(), 100U) << result.err;
    }
  }
};

TEST_F(Terminal, TablesFitWithoutAGpu) {
  expect_fits({"list", "--space", "tune", "--pruned"});
  expect_fits({"list", "--space", "tune", "--filter", "B_r == 128"});
  expect_fits({"list", "--presets"});
  expect_fits({"compile", "--config", kConfig});
  expect_fits({"sweep", "--space", "prog", "--seq", "512,1024", "--no-emulate"});
  expect_fits({"check", "--config", kConfig, "--small"});
  expect_fits({"emulate", "--config", kConfig, "--seq", "64", "--profile"});
}

TEST_F(Terminal, TablesFitWithAGpu) {
  use_fake_worker({{"noise_percent", 0.2}, {"us", {{"64, 64, 4", 100.0}, {"32, 4", 140.0}}}});
  expect_fits({"sweep", "--space", "prog", "--seq", "128,256", "--batch", "1", "--repeats", "4",
               "--fresh", "--best", path("best.json")});
  expect_fits({"history"});
  expect_fits({"show", "last"});
  expect_fits({"verify-winner", path("best.json"), "--space", "prog", "--repeats", "4"});
  expect_fits({"check", "--config", kConfig, "--small"});
  expect_fits({"devices"});
}

TEST_F(Terminal, TablesOfMachineCodeFit) {
  const std::string folder = FATUNE_SOURCE_DIR "/tests/listings/";
  const std::string code = folder + "flash.sm_80.txt";
  expect_fits({"sass", "--cubin", code, "--opcodes"});
  expect_fits({"sass", "diff", folder + "toy_attention.sm_80.nvdisasm_12.4.txt", code});
}

TEST_F(Terminal, TablesOfCountersFit) {
  for (const char* name : {"raw_auto.csv", "details_base.csv"}) {
    expect_fits(
        {"profile", "--import", FATUNE_SOURCE_DIR "/tests/recorded/ncu/" + std::string(name)});
  }
}

TEST_F(Terminal, ATableThatIsCutSaysWhatIsMissing) {
  const std::vector<std::string> sweep{"sweep", "--space", "prog", "--seq", "512", "--no-emulate"};
  const ProcessResult narrow = at(80, sweep);
  EXPECT_THAT(narrow.out, HasSubstr("every config: (FP16, 128, 64, 64, 4): async+"));
  EXPECT_THAT(narrow.out, HasSubstr("left out at 80 columns: "));
  EXPECT_THAT(narrow.out, HasSubstr("--format json has all"));
  const ProcessResult wide = at(200, sweep);
  EXPECT_THAT(wide.out, Not(HasSubstr("left out")));
  EXPECT_THAT(wide.out, HasSubstr("  (FP16, 128, 64, 64, 4): async+"));
}

TEST_F(Terminal, PresetsCanBeReadInEightyColumns) {
  const ProcessResult result = at(80, {"list", "--presets"});
  EXPECT_THAT(result.out, Not(HasSubstr("...")));
  for (const char* text : {"mistral-7b-v0.1", "llama-3.1-405b", "4096", "sinks", "BF16"}) {
    EXPECT_THAT(result.out, HasSubstr(text));
  }
}

TEST_F(Terminal, ColumnsCountsWhereTheTerminalDoesNotKnow) {
  const std::vector<std::string> list{"list", "--space", "prog"};
  EXPECT_GT(widest_line(at(0, list).out), 60U);
  process_.environment["COLUMNS"] = "60";
  EXPECT_LE(widest_line(at(0, list).out), 60U);
  EXPECT_GT(widest_line(at(100, list).out), 60U);
  process_.environment["COLUMNS"] = "many";
  EXPECT_GT(widest_line(at(0, list).out), 60U);
  process_.environment["COLUMNS"] = "60";
  process_.terminal_columns.reset();
  EXPECT_GT(widest_line(fatune(list).out), 60U) << "a pipe has no width";
}

class Colours : public Terminal {
 protected:
  /// Whether a table with a warning has colours, on a terminal or elsewhere.
  bool has_colours(bool on_terminal, const std::vector<std::string>& more = {},
                   const std::map<std::string, std::string>& variables = {}) {
    const auto environment = process_.environment;
    process_.environment.insert(variables.begin(), variables.end());
    process_.terminal_columns =
        on_terminal ? std::optional<unsigned short>(kNarrow.front()) : std::nullopt;
    std::vector<std::string> arguments{"sweep", "--space",      kFewSpace, "--seq",
                                       "64",    "--no-emulate", "--no-db"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProcessResult result = fatune(arguments);
    expect_ok(result);
    process_.environment = environment;
    return result.out.find("\x1b[") != std::string::npos;
  }
};

TEST_F(Colours, AreForTerminals) {
  EXPECT_TRUE(has_colours(true));
  EXPECT_FALSE(has_colours(false));
  EXPECT_FALSE(has_colours(true, {"--format", "csv", "--color", "always"}));
}

TEST_F(Colours, AreAsVariablesSay) {
  EXPECT_FALSE(has_colours(true, {}, {{"NO_COLOR", "1"}}));
  EXPECT_TRUE(has_colours(true, {}, {{"NO_COLOR", ""}}));
  EXPECT_FALSE(has_colours(true, {}, {{"CLICOLOR", "0"}}));
  EXPECT_FALSE(has_colours(false, {}, {{"CLICOLOR", "1"}}));
  EXPECT_TRUE(has_colours(false, {}, {{"CLICOLOR_FORCE", "1"}}));
  EXPECT_FALSE(has_colours(false, {}, {{"CLICOLOR_FORCE", "0"}}));
  EXPECT_FALSE(has_colours(true, {}, {{"CLICOLOR_FORCE", "1"}, {"NO_COLOR", "1"}}));
}

TEST_F(Colours, AreFirstOfAllAsTheOptionSays) {
  EXPECT_TRUE(has_colours(false, {"--color", "always"}));
  EXPECT_FALSE(has_colours(true, {"--color", "never"}));
  EXPECT_TRUE(has_colours(false, {"--color", "always"}, {{"NO_COLOR", "1"}}));
  EXPECT_FALSE(has_colours(false, {"--color", "auto"}));
  EXPECT_FALSE(has_colours(true, {"--color", "never"}, {{"CLICOLOR_FORCE", "1"}}));
  expect_error(fatune({"list", "--color", "blue"}), ExitCode::usage, {"--color: blue not in"});
}

TEST_F(Terminal, OtherFormatsAreNotCut) {
  const std::vector<std::string> list{"list", "--space", "prog", "--format", "csv"};
  const std::string cut = at(60, list).out;
  process_.terminal_columns.reset();
  EXPECT_EQ(cut, fatune(list).out);
}

TEST_F(Terminal, ProgressNeverScrolls) {
  for (const unsigned short columns : kNarrowest) {
    const ProcessResult result = at(columns, {"check", "--config", kConfig, "--small"});
    const Lines drawn = drawn_lines(result.err);
    ASSERT_FALSE(drawn.empty()) << result.err;
    for (const std::string& line : drawn) {
      EXPECT_LT(line.size(), columns) << line;
    }
  }
}

TEST_F(Terminal, CheckNamesTheProblemInItsProgress) {
  const ProcessResult result = at(80, {"check", "--config", kConfig, "--small"});
  EXPECT_THAT(drawn_lines(result.err),
              testing::Contains(HasSubstr("[0/3] b1 s512 h1 d128 FP16, ETA ?")));
}

TEST_F(Terminal, CompileShowsItsProgress) {
  const ProcessResult result = at(80, {"compile", "--space", "prog"});
  EXPECT_THAT(drawn_lines(result.err), testing::Contains(HasSubstr("/7] b16 s")));
}

}  // namespace
}  // namespace fatune::testing_cli
