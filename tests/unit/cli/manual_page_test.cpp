#include "cli/command_page.hpp"

#include <gmock/gmock.h>

#include "unit/cli/samples.hpp"

namespace fatune {
namespace {

using testing::HasSubstr;
using testing::Not;

const ManualEdition kEdition{
    "1.2", "2026-01-02",
    "\n## Exit codes\n\n| code | meaning |\n|---|---|\n| 0 | success |\n\n"
    "## Environment\n\n| variable | meaning |\n|---|---|\n"
    "| `KERNELS`, `B` | the `space`: see ([a table](b.md#c)) |\n\n## More\n"};

std::string sample_page() {
  const CommandPage program = sample_program();
  return manual_page(program.commands.front(), program, kEdition);
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
  const std::string page = manual_page(program, program, kEdition);
  EXPECT_THAT(page, HasSubstr(".SH COMMANDS\n.TP\n\\fBtune\\fR\nIsn't [it] a\\eb: `x`?\n"));
  EXPECT_THAT(
      page, HasSubstr(".SH ENVIRONMENT\n.TP\n\\fBKERNELS, B\\fR\nthe space: see (docs/b.md#c)\n"));
  EXPECT_THAT(page, HasSubstr("\\fBfatune\\-tune\\fR(1)\n"));
  EXPECT_THAT(page, Not(HasSubstr(".SH EXAMPLES")));
}

}  // namespace
}  // namespace fatune
