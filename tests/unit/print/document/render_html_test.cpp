#include <gmock/gmock.h>

#include "base/sha256.hpp"
#include "print/document/document.hpp"

namespace fatune {
namespace {

using testing::HasSubstr;
using testing::Not;

const PageParts kParts{"p { color: red }", "var library;", "var own;"};

std::string between_tags(const std::string& page, const std::string& tag) {
  const std::size_t begin = page.find("<" + tag + ">") + tag.size() + 2;
  return page.substr(begin, page.find("</" + tag + ">") - begin);
}

TEST(RenderHtml, ThePolicyAllowsItsOwnStyleAndScriptAlone) {
  const std::string page = render_html({}, {"title", "lead"}, kParts);
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, HasSubstr("style-src 'sha256-" + sha256_base64(between_tags(page, "style"))));
  EXPECT_THAT(page, HasSubstr("script-src 'sha256-" + sha256_base64(between_tags(page, "script"))));
}

TEST(RenderHtml, HeadingsAreSectionsWithAContentsList) {
  const std::string page = render_html(
      {block::Heading{"What won, and why"}, block::Text{"a\nb\n"}, block::Heading{"Next"}},
      {"title", "lead"}, kParts);
  EXPECT_THAT(page, HasSubstr("<li><a href=\"#what-won-and-why\">What won, and why</a></li>"));
  EXPECT_THAT(page, HasSubstr("<section id=\"what-won-and-why\" aria-labelledby="));
  EXPECT_THAT(page, HasSubstr("<p>a</p>\n<p>b</p>\n</section>\n<nav"));
}

TEST(RenderHtml, WarningsAreAboveTheTitleAndTheResultAboveTheContents) {
  const std::string page =
      render_html({block::Heading{"Result"}, block::Text{"a\n"}, block::Heading{"Next"}},
                  {"title", "lead", {"an <estimate>"}}, kParts);
  EXPECT_THAT(page, HasSubstr("<header><p class=\"warning\">an &lt;estimate&gt;</p>\n<h1>title"));
  EXPECT_LT(page.find("<p>a</p>"), page.find("<nav"));
  EXPECT_LT(page.find("<nav"), page.find("<section id=\"next\""));
}

TEST(RenderHtml, CellsOfAStackedTableSayWhatTheyAre) {
  Table table;
  table.columns = {{.name = "config", .heading = "config", .look = kWraps},
                   {.name = "a_us", .heading = "us", .look = {.decimals = 1}}};
  table.rows = {{std::string("x"), 1.25}};
  const std::string page = render_html(
      {block::Heading{"Result"}, block::Rows{.table = table, .stacked = true}}, {"", ""}, kParts);
  EXPECT_THAT(page, HasSubstr("<td class=t data-line>x<td data-heading=\"us\">1.2"));
}

TEST(RenderHtml, LinesOfVerbatimTextStayLines) {
  const std::string page =
      render_html({block::Heading{"How"}, block::Verbatim{"fatune sweep\nfatune report\n"}},
                  {"title", "lead"}, kParts);
  EXPECT_THAT(page, HasSubstr("<pre>fatune sweep\nfatune report\n</pre>"));
}

TEST(RenderHtml, TextsAreNeverMarkup) {
  const std::string text = "<script>alert('1')</script>";
  Table table;
  table.columns = {{.name = text, .heading = text}};
  table.rows = {{text}};
  const std::string page = render_html(
      {block::Heading{text}, block::Text{text}, block::Warning{text}, block::Verbatim{text},
       block::Fold{text}, block::Rows{.table = table, .numbered = true}, block::FoldEnd{},
       block::Figure{{text, text, text, XyPlot{}}, text}},
      {text, text}, kParts);
  EXPECT_EQ(page.find("<script>"), page.rfind("<script>"));
  EXPECT_THAT(page, Not(HasSubstr("alert('1')")));
}

TEST(RenderHtml, NumbersAreCellsAndTextsSayThatTheyAreText) {
  Table table;
  table.columns = {{.name = "a_us", .heading = "a", .look = {.decimals = 1}},
                   {.name = "b", .heading = "b"}};
  table.rows = {{1.25, std::string("x")}, {FieldValue{}, FieldValue{}}};
  const std::string page =
      render_html({block::Heading{"Configurations"}, block::Rows{.table = table, .numbered = true}},
                  {"title", "lead"}, kParts);
  EXPECT_THAT(page, HasSubstr("data-name=\"a_us\" data-kind=\"number\">a"));
  EXPECT_THAT(page, HasSubstr("<tr data-row=\"0\"><td>1.2<td class=t>x\n"));
  EXPECT_THAT(page, HasSubstr("<tr data-row=\"1\"><td><td>\n"));
}

}  // namespace
}  // namespace fatune
