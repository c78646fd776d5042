#include "base/visible_text.hpp"

#include <gtest/gtest.h>

namespace fatune {
namespace {

constexpr auto kReplaced = "\xEF\xBF\xBD";

TEST(VisibleText, KeepsWhatHasAForm) {
  EXPECT_EQ(visible_text("B_r 128, \xC2\xB5s, \xE2\x89\xA4 3 %, \xF0\x9F\x90\xA2"),
            "B_r 128, \xC2\xB5s, \xE2\x89\xA4 3 %, \xF0\x9F\x90\xA2");
  EXPECT_EQ(visible_text(""), "");
}

TEST(VisibleText, ReplacesEachByteThatIsNoUtf8) {
  for (const std::string bytes : {"\x80", "\xFF", "\xC3", "\xF5", "\xC1"}) {
    EXPECT_EQ(visible_text("a" + bytes + "b"), "a" + std::string(kReplaced) + "b");
  }
  const std::string three = std::string(kReplaced) + kReplaced + kReplaced;
  EXPECT_EQ(visible_text("\xE0\x80\xAF"), three) << "too long a form of '/'";
  EXPECT_EQ(visible_text("\xF4\x90\x80\x80"), three + kReplaced) << "beyond U+10FFFF";
  EXPECT_EQ(visible_text("\xED\xA0\x80"), three) << "a surrogate";
  EXPECT_EQ(visible_text("\xE2\x82"), std::string(kReplaced) + kReplaced) << "cut off";
}

TEST(VisibleText, KnowsWhereUtf8Ends) {
  EXPECT_EQ(utf8_bytes("a\xC3\xBC"), 3U);
  EXPECT_EQ(utf8_bytes("a\xFC"
                       "b"),
            1U);
  EXPECT_EQ(utf8_bytes("ab\xC3"), 2U);
  EXPECT_EQ(utf8_bytes(std::string_view("a\0b", 3)), 3U);
  EXPECT_EQ(utf8_bytes(""), 0U);
}

TEST(VisibleText, ReplacesWhatHasAnEffectInsteadOfAForm) {
  for (const std::string& character : {
           std::string(1, '\0'), std::string("\x1B"), std::string("\n"), std::string("\x7F"),
           std::string("\xC2\x9B"),          // U+009B starts a terminal's control sequence
           std::string("\xD8\x9C"),          // U+061C Arabic letter mark
           std::string("\xE2\x80\x8B"),      // U+200B zero width space
           std::string("\xE2\x80\x8F"),      // U+200F right-to-left mark
           std::string("\xE2\x80\xAE"),      // U+202E right-to-left override
           std::string("\xE2\x81\xA6"),      // U+2066 left-to-right isolate
           std::string("\xEF\xBB\xBF"),      // U+FEFF byte order mark
           std::string("\xEF\xBF\xBF"),      // U+FFFF noncharacter
           std::string("\xF0\x9F\xBF\xBE"),  // U+1FFFE noncharacter
           std::string("\xF3\xA0\x81\x81"),  // U+E0041 tag
       }) {
    EXPECT_EQ(visible_text("a" + character + "b"), "a" + std::string(kReplaced) + "b");
  }
}

TEST(VisibleText, IsCutInTheMiddle) {
  EXPECT_EQ(visible_text("abcdefghij", 7), "ab...ij");
  EXPECT_EQ(visible_text("\xFF\xFF\xFF\xFF\xFF\xFF", 5),
            std::string(kReplaced) + "..." + kReplaced);
}

TEST(VisibleText, OfLinesLeavesBreaksAndTabs) {
  EXPECT_EQ(visible_lines(""), "");
  EXPECT_EQ(visible_lines("a\n\tb\x1b[2J\n"), "a\n\tb" + std::string(kReplaced) + "[2J\n");
}

TEST(VisibleText, OfALineHasBlanksForControls) {
  EXPECT_EQ(visible_line("a\n\tb\x1b[2J\u202e"), "a  b [2J" + std::string(kReplaced));
}

TEST(VisibleText, OfJsonKeepsItsMeaning) {
  EXPECT_EQ(visible_json("{\"\u00b5\": \"a\u202eb\u009b\x7f\U000E0041\"}"),
            "{\"\u00b5\": \"a\\u202eb\\u009b\\u007f\\udb40\\udc41\"}");
  EXPECT_EQ(visible_json("{\n}"), "{\n}");
}

TEST(Markdown, ALineIsNoMarkup) {
  EXPECT_EQ(markdown("<b> `c` ![i](u) \\ *e* a_b | ~s~ $m$ &#x202e;"),
            "&lt;b> \\`c\\` !\\[i\\](u) \\\\ \\*e\\* a_b \\| \\~s\\~ \\$m\\$ &amp;#x202e;");
}

TEST(Markdown, ALineBeginsNoBlock) {
  EXPECT_EQ(markdown_lines("a\n# h\n"), "a\n\\# h\n");
  EXPECT_EQ(markdown_lines("  - item"), "  \\- item");
  EXPECT_EQ(markdown_lines("> quote"), "\\> quote");
  EXPECT_EQ(markdown_lines("==="), "\\===");
  EXPECT_EQ(markdown_lines("- - -"), "\\- - -");
  EXPECT_EQ(markdown_lines("12. item"), "12\\. item");
  EXPECT_EQ(markdown_lines("1) item"), "1\\) item");
  EXPECT_EQ(markdown_lines("12 ranked\n3.5 us\n-1 %\n_a"), "12 ranked\n3.5 us\n-1 %\n_a");
}

TEST(Markdown, ACodeBlockEndsWhereItShould) {
  EXPECT_EQ(markdown_code("a\n"), "```\na\n```\n");
  EXPECT_EQ(markdown_code("```\nb\x1b\n"), "````\n```\nb" + std::string(kReplaced) + "\n````\n");
}

TEST(Markup, EscapesWhatEndsATextOrAnAttribute) {
  EXPECT_EQ(markup("</svg><script a=\"b\" c='d'>&"),
            "&lt;/svg&gt;&lt;script a=&quot;b&quot; c=&#39;d&#39;&gt;&amp;");
  EXPECT_EQ(markup(std::string("a\0b", 3)), "a" + std::string(kReplaced) + "b");
}

}  // namespace
}  // namespace fatune
