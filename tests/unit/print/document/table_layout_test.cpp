#include "print/document/table.hpp"

#include <gmock/gmock.h>

#include <sstream>

#include "base/visible_text.hpp"
#include "commands/sass/sass_reports.hpp"
#include "print/comparisons.hpp"
#include "print/export_report.hpp"
#include "print/run_report.hpp"

namespace fatune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using Lines = std::vector<std::string>;

Lines printed_lines(const std::string& text) {
  Lines lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

TEST(WidthOf, CountsColumnsAndNoColours) {
  EXPECT_EQ(width_of("abc"), 3U);
  EXPECT_EQ(width_of("\xC3\xA9"), 1U);
  EXPECT_EQ(width_of("\x1b[33mabc\x1b[0m"), 3U);
  EXPECT_EQ(width_of("注意力"), 6U);
  EXPECT_EQ(width_of("🐢"), 2U);
  EXPECT_EQ(width_of("e\u0301"), 1U) << "a combining mark";
  EXPECT_EQ(width_of("a\xFF\xE6\xB3"), 4U) << "each byte that is no UTF-8 is shown as U+FFFD";
}

TEST(Shortened, KeepsBothEnds) {
  EXPECT_EQ(shortened("0123456789", 10), "0123456789");
  EXPECT_EQ(shortened("0123456789", 8), "012...89");
  EXPECT_EQ(shortened("0123456789", 2), "01");
  EXPECT_EQ(shortened("\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9", 4), "\xC3\xA9...");
  EXPECT_EQ(shortened("注意力机制", 8), "注...制");
  EXPECT_EQ(shortened("注意力机制", 6), "注...") << "no half of a character";
  EXPECT_EQ(shortened("注意力", 1), "");
}

TEST(Wrapped, BreaksBetweenWordsAndAfterThePlusOfAList) {
  EXPECT_THAT(wrapped("one two three", 8), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped("async+eager+swizzled", 12), ElementsAre("async+eager+", "swizzled"));
  EXPECT_THAT(wrapped("race to +-0.5 %", 11), ElementsAre("race to", "+-0.5 %"));
  EXPECT_THAT(wrapped("0123456789 a", 8), ElementsAre("012...89", "a"));
}

TEST(WrappedLines, GoOnFurtherInAndLeaveShortOnesAlone) {
  EXPECT_EQ(wrapped_lines("short\n  a longer line\n", 10), "short\n  a longer\n    line\n");
  EXPECT_EQ(wrapped_lines("a longer line\n", 0), "a longer line\n");
  EXPECT_EQ(wrapped_lines("", 10), "");
}

TEST(ShareParts, SayWhatAllHaveInCommonOnce) {
  const auto shared = share_parts({"(FP16, 128, 64, 32, 4): async+swizzled+load_2_2_2_tiles",
                                   "(FP16, 128, 64, 64, 4): async+load_2_2_2_tiles+buffer", "-"});
  ASSERT_TRUE(shared);
  EXPECT_EQ(shared->common, "(FP16, 128, 64, ...): async+...+load_2_2_2_tiles");
  EXPECT_THAT(shared->rest, ElementsAre("32, 4): swizzled", "64, 4): buffer", "-"));
}

TEST(ShareParts, AWholeTupleMayBeCommon) {
  const auto shared = share_parts({"(FP16, 64): a+b", "(FP16, 64): a+c", "(FP16, 64): a"});
  ASSERT_TRUE(shared);
  EXPECT_EQ(shared->common, "(FP16, 64): a+...");
  EXPECT_THAT(shared->rest, ElementsAre("b", "c", "-"));
}

TEST(ShareParts, NothingWhereNothingIsCommon) {
  EXPECT_FALSE(share_parts({"(FP16, 64): a", "(BF16, 64): b"}));
  EXPECT_FALSE(share_parts({"-", "a sentence (with a bracket): and more"}));
  EXPECT_FALSE(share_parts({}));
}

/// A table with the columns rank, config and us, and two that are left out first.
TextTable ranking() {
  return {{{"rank", true}, {"config", false, true}, {"us", true}, {"min", true}, {"stddev", true}},
          {{"1", "(FP16, 128, 64): async+eager", "10.0", "9.0", "0.12"},
           {"2", "(FP16, 128, 32): async+eager+buffer", "11.0", "10.0", "0.34"}}};
}

TEST(DrawPlain, ChangesNothingThatFits) {
  EXPECT_EQ(draw_plain(ranking(), 64), draw_plain(ranking()));
  EXPECT_THAT(draw_plain(ranking()), Not(HasSubstr("every")));
}

TEST(DrawPlain, FirstSaysOnceWhatConfigurationsHaveInCommon) {
  EXPECT_EQ(draw_plain(ranking(), 60),
            "every config: (FP16, 128, ...): async+eager\n"
            "rank  config         us   min  stddev\n"
            "   1  64)          10.0   9.0    0.12\n"
            "   2  32): buffer  11.0  10.0    0.34\n");
}

TEST(DrawPlain, ThenColumnsAreLeftOutFromTheRight) {
  EXPECT_THAT(draw_plain(ranking(), 30), HasSubstr("left out at 30 columns:\n  stddev;"));
  EXPECT_THAT(draw_plain(ranking(), 24), HasSubstr("left out at 24 columns:\n  min, stddev;"));
}

TEST(DrawPlain, TextWrapsWithinItsColumn) {
  const TextTable table{{{"n", true}, {"detail", false, true}},
                        {{"7", "one two three four five six seven eight nine"}, {"8", "ten"}}};
  EXPECT_EQ(draw_plain(table, 30),
            "n  detail\n"
            "7  one two three four five six\n"
            "   seven eight nine\n"
            "8  ten\n");
}

TEST(DrawPlain, SaysWhatIsLeftOut) {
  EXPECT_THAT(draw_plain(ranking(), 24), HasSubstr("left out at 24 columns:"));
  EXPECT_THAT(draw_plain(ranking()), Not(HasSubstr("left out")));
}

TEST(DrawPlain, NoLineIsWiderThanWhatItWasGiven) {
  for (std::size_t columns = 16; columns < 70; ++columns) {
    for (const std::string& line : printed_lines(draw_plain(ranking(), columns))) {
      EXPECT_LE(width_of(line), columns) << line;
    }
  }
}

TEST(DrawPlain, AtLastCellsAreShortened) {
  const TextTable table{{{"file"}, {"us", true}}, {{"/a/very/long/path/to/something", "1.0"}}};
  EXPECT_THAT(draw_plain(table, 32), HasSubstr("/a/very/long...to/something"));
}

}  // namespace
}  // namespace fatune
