#include "print/document/table.hpp"

#include <gtest/gtest.h>

namespace fatune {
namespace {

TextTable table() {
  return {{{"name", false}, {"us", true}}, {{"a", "1.5"}, {"long name", "10.25"}}};
}

TEST(DrawPlain, PadsToTheWidestCellAndAlignsNumbersRight) {
  EXPECT_EQ(draw_plain(table()),
            "name          us\n"
            "a            1.5\n"
            "long name  10.25\n");
}

TEST(DrawPlain, ColumnsAreAlignedInAnyScript) {
  const TextTable wide{{{"x", false}, {"y", true}}, {{"é", "1"}, {"注意力", "2"}, {"ab", "🐢"}}};
  EXPECT_EQ(draw_plain(wide),
            "x        y\n"
            "é        1\n"
            "注意力   2\n"
            "ab      🐢\n");
}

TEST(DrawPlain, ACellCannotMoveTheCursor) {
  const TextTable hostile{{{"x", false}}, {{"a\x1b[2J\nb\r"}}};
  EXPECT_EQ(draw_plain(hostile), "x\na [2J b\n");
}

TEST(DrawPlain, ACellCannotTurnTheDirectionOfWriting) {
  const TextTable hostile{{{"x", false}}, {{"a\u202eb\u009b"}}};
  EXPECT_EQ(draw_plain(hostile), "x\na\uFFFDb\uFFFD\n");
}

TEST(DrawMarkdown, MarksAlignmentAndEscapesBars) {
  const TextTable barred{{{"x", false}, {"n", true}}, {{"a|b", "1"}}};
  EXPECT_EQ(draw_markdown(barred), "| x | n |\n| --- | ---: |\n| a\\|b | 1 |\n");
}

TEST(DrawMarkdown, ACellIsNoMarkup) {
  const TextTable hostile{{{"x", false}}, {{"<b> `c` ![i](u) \\ *e* a_b"}}};
  EXPECT_EQ(draw_markdown(hostile),
            "| x |\n| --- |\n| &lt;b> \\`c\\` !\\[i\\](u) \\\\ \\*e\\* a_b |\n");
}

TEST(DrawCsv, QuotesAsRfc4180Says) {
  const TextTable tricky{{{"a", false}, {"b", false}}, {{"1,2", "say \"x\""}, {"l1\nl2", ""}}};
  EXPECT_EQ(draw_csv(tricky), "a,b\r\n\"1,2\",\"say \"\"x\"\"\"\r\n\"l1\nl2\",\r\n");
}

}  // namespace
}  // namespace fatune
