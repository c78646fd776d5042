#include "cli/command_page.hpp"

#include <stdexcept>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "unit/cli/samples.hpp"

namespace fatune {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A command with twenty options: the even ones belong to the output, the others to the problem.
CommandPage large_page() {
  CommandPage page = sample_program().commands.front();
  page.options.clear();
  for (int i = 0; i < 20; ++i) {
    page.options.push_back({.names = {fmt::format("--option-{}", i)},
                            .value = i == 3 ? "table|json|jsonl|csv|md" : "N",
                            .doc = fmt::format("text of number {}", i),
                            .group = i % 2 == 0 ? option_group::kOutput : option_group::kProblem});
  }
  page.common = {"--option-3", "--option-2"};
  return page;
}

TEST(HelpText, OfFewOptionsHasThemInOneList) {
  const CommandPage page = sample_program().commands.front();
  EXPECT_EQ(help_text(page, HelpExtent::common, 80),
            "Isn't [it] a\\b: `x`?\n"
            "Usage: fatune tune [OPTIONS] [DIR...]\n"
            "\nArguments:\n"
            "  DIR                   x\n"
            "\nOptions:\n"
            "  -o, --out FILE|-      a 'file'\n"
            "  --kinds a|b,...       x\n"
            "  --count [N]           x\n"
            "  --fast                x; excludes --kinds\n"
            "\n'quoted' .dotted\n"
            "  kept -o\n"
            "\nExamples:\n"
            "  fatune tune 'a b' \\\n"
            "    -o c\n");
  EXPECT_EQ(help_text(page, HelpExtent::all, 80), help_text(page, HelpExtent::common, 80));
}

TEST(HelpText, OfManyOptionsDescribesTheCommonOnesInTheirOrder) {
  const std::string help = help_text(large_page(), HelpExtent::common, 80);
  EXPECT_THAT(help, HasSubstr("\nCommon options:\n"
                              "  --option-3 table|json|jsonl|csv|md\n"
                              "                        text of number 3\n"
                              "  --option-2 N          text of number 2\n"
                              "\nMore options, described by 'fatune tune --help-all' and 'man "
                              "fatune-tune':\n"
                              "  Problem    --option-1, --option-5, "));
  EXPECT_THAT(help, HasSubstr("\n  Output     --option-0, --option-4, "));
  EXPECT_THAT(help, Not(HasSubstr("text of number 5")));
}

TEST(HelpText, DescribesAllOfThemInGroupsIfAsked) {
  const std::string help = help_text(large_page(), HelpExtent::all, 80);
  EXPECT_THAT(help, HasSubstr("\nProblem:\n  --option-1 N          text of number 1\n"));
  EXPECT_THAT(help, HasSubstr("\nOutput:\n  --option-0 N          text of number 0\n"));
  EXPECT_LT(help.find("\nProblem:"), help.find("\nOutput:"));
}

TEST(HelpText, PutsTextsBelowTheirOptionsIfItIsNarrow) {
  EXPECT_THAT(help_text(large_page(), HelpExtent::all, 40),
              HasSubstr("\n  --option-1 N\n      text of number 1\n"));
}

TEST(HelpText, RefusesOptionsOfNoGroupAndCommonOnesThatAreNotThere) {
  CommandPage page = large_page();
  page.options[4].group = "Options";
  EXPECT_THROW((void)help_text(page, HelpExtent::all, 80), std::logic_error);
  page = large_page();
  page.common.emplace_back("--missing");
  EXPECT_THROW((void)help_text(page, HelpExtent::common, 80), std::logic_error);
}

}  // namespace
}  // namespace fatune
