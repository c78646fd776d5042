#include "manual/command_page.hpp"

#include <fstream>
#include <regex>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "manual/reference_tables.hpp"
#include "unit/manual/samples.hpp"

namespace fatune {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string sample_page() {
  const CommandPage program = sample_program();
  return manual_page(program.commands.front(), program, {"1.2", "2026-01-02"});
}

TEST(ManualPage, SaysWhatTheHelpSays) {
  const std::string page = sample_page();
  EXPECT_THAT(page, testing::StartsWith(
                        ".TH FATUNE\\-TUNE 1 2026-01-02 \"fatune 1.2\" \"fatune manual\"\n"
                        ".SH NAME\nfatune\\-tune \\- Isn't [it] a\\eb: `x`?\n"
                        ".SH SYNOPSIS\n\\fBfatune tune\\fR [\\fIOPTIONS\\fR] [\\fIDIR\\fR...]\n"));
  EXPECT_THAT(page, HasSubstr(".TP\n\\fB\\-o\\fR, \\fB\\-\\-out\\fR \\fIFILE|\\-\\fR\na 'file'\n"));
  EXPECT_THAT(page, HasSubstr("\\fB\\-\\-count\\fR [\\fIN\\fR]\n"));
  EXPECT_THAT(page, HasSubstr("x; excludes \\-\\-kinds\n"));
  EXPECT_THAT(page, HasSubstr(".SH EXIT STATUS\n.TP\n\\fB0\\fR\nsuccess\n"));
  EXPECT_THAT(page, HasSubstr(".SH SEE ALSO\n\\fBfatune\\fR(1)\n"));
}

TEST(ManualPage, KeepsWhatRoffTakesForItsOwn) {
  const std::string page = sample_page();
  EXPECT_THAT(page, HasSubstr("\n\\&'quoted'\n\\&.dotted\n.PP\n.nf\n  kept \\-o\n.fi\n"));
  EXPECT_THAT(page, HasSubstr(".SH EXAMPLES\n.nf\n  fatune tune 'a b' \\e\n    \\-o c\n.fi\n"));
}

TEST(ManualPage, OfTheProgramHasItsCommands) {
  const CommandPage program = sample_program();
  const std::string page = manual_page(program, program, {"1.2", "2026-01-02"});
  EXPECT_THAT(page, HasSubstr(".SH COMMANDS\n.TP\n\\fBtune\\fR\nIsn't [it] a\\eb: `x`?\n"));
  EXPECT_THAT(page, HasSubstr(".SH ENVIRONMENT\n.TP\n\\fBKERNELS\\fR\n"));
  EXPECT_THAT(page, HasSubstr("\\fBfatune\\-tune\\fR(1)\n"));
  EXPECT_THAT(page, Not(HasSubstr(".SH EXAMPLES")));
}

/// The rows of a table of docs/reference.md, without markup: "cell | cell".
std::vector<std::string> reference_rows(const std::string& heading) {
  std::ifstream file(FATUNE_SOURCE_DIR "/docs/reference.md");
  std::vector<std::string> rows;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    inside = line.starts_with("## ") ? line == "## " + heading : inside;
    if (inside && line.starts_with("| ")) {
      line = std::regex_replace(line, std::regex(R"(\[[^\]]*\]\(([^)]*)\))"), "docs/$1");
      std::erase(line, '`');
      rows.push_back(line.substr(2, line.size() - 4));
    }
  }
  return rows;
}

TEST(ManualPage, HasTheExitCodesOfTheReference) {
  std::vector<std::string> rows{"code | meaning"};
  for (const ExitCodeText& code : kExitCodeTexts) {
    rows.push_back(fmt::format("{} | {}", static_cast<int>(code.code), code.meaning));
  }
  EXPECT_THAT(reference_rows("Exit codes"), testing::ElementsAreArray(rows));
}

TEST(ManualPage, HasTheEnvironmentOfTheReference) {
  std::vector<std::string> rows{"variable | meaning"};
  for (const EnvironmentText& variable : kEnvironmentTexts) {
    rows.push_back(fmt::format("{} | {}", variable.names, variable.meaning));
  }
  EXPECT_THAT(reference_rows("Environment"), testing::ElementsAreArray(rows));
}

}  // namespace
}  // namespace fatune
