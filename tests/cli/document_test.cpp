#include "cli/document.hpp"

#include <gmock/gmock.h>

namespace fatune::testing_cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(CodeBlocks, AreFencedOrIndentedAndHaveANote) {
  const auto blocks = code_blocks(
      "Text\n\n    fatune list\n\n<!-- shows: fatune a -->\n```sh\none\n    two\n```\n"
      "text\n    that goes on\n");
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ(blocks[0].text, "fatune list\n");
  EXPECT_EQ(blocks[0].line, 3);
  EXPECT_EQ(blocks[0].note, "");
  EXPECT_EQ(blocks[1].text, "one\n    two\n");
  EXPECT_EQ(blocks[1].line, 7);
  EXPECT_EQ(blocks[1].note, "shows: fatune a");
}

TEST(FatuneCommands, AreTakenApartAsAShellWould) {
  EXPECT_THAT(
      fatune_commands("cd x\nfatune run --config \"(a, b): c\"   # why\n"
                      "./scripts/fatune list \\\n  --pruned > file\n"),
      ElementsAre(ElementsAre("run", "--config", "(a, b): c"), ElementsAre("list", "--pruned")));
}

TEST(FatuneCommands, LeaveOutWhatTheReaderHasToFillIn) {
  EXPECT_THAT(fatune_commands("fatune run --config \"...\"\nfatunes\n"), IsEmpty());
}

TEST(IsShown, LooksAtAllButWhiteSpaceAndEllipses) {
  EXPECT_TRUE(is_shown("one  two\nthree\nfour\n", "one two\n...\nfour"));
  EXPECT_TRUE(is_shown("before one two", "one\n   two\n"));
  EXPECT_FALSE(is_shown("one two\nthree\nfour\n", "one two\nfour"));
  EXPECT_FALSE(is_shown("one two\nthree\nfour\n", "four\n...\none"));
}

}  // namespace
}  // namespace fatune::testing_cli
