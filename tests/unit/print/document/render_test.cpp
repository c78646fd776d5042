#include "print/document/document.hpp"

#include <gmock/gmock.h>

namespace fatune {
namespace {

Document numbered_rows(bool all = true) {
  const auto records = [] {
    return Table{{{.name = "name", .heading = "what"},
                  {.name = "time_us", .heading = "us", .look = {.decimals = 1}},
                  {.name = "note", .heading = "note"},
                  {.name = "key", .heading = "key", .look = kProgramsOnly}},
                 {{std::string("a"), 1.25, {}, true}, {std::string("b,c"), 10.0, {}, false}}};
  };
  const auto for_people = [records, all] {
    Table table = records();
    table.rows.resize(all ? 2 : 1);
    return Blocks{block::Heading{"results"},    block::Text{"one\n"},
                  block::ParagraphEnd{},        block::Warning{"two"},
                  block::Verbatim{"  three\n"}, block::Rows{table, kInRanking, all ? 0U : 1U}};
  };
  return {for_people, records, [] { return json_head("sample"); }};
}

TEST(Render, ATerminalHasTheFirstRowsAndColours) {
  EXPECT_EQ(render(numbered_rows(false), OutputFormat::table),
            "results\none\ntwo\n  three\nwhat   us\na     1.2\n"
            "... and 1 more (--top 0 shows all)\n");
  EXPECT_THAT(render(numbered_rows(), {OutputFormat::table, 0, true}),
              testing::StartsWith("\x1b[1mresults\x1b[0m\n"));
}

TEST(Render, MarkdownHasAsManyRowsAsWanted) {
  const std::string before_rows =
      "## results\n\none\n\n**two**\n```\n  three\n```\n| what | us |\n| --- | ---: |\n";
  EXPECT_EQ(render(numbered_rows(), OutputFormat::markdown),
            before_rows + "| a | 1.2 |\n| b,c | 10.0 |\n");
  EXPECT_EQ(render(numbered_rows(false), OutputFormat::markdown),
            before_rows + "| a | 1.2 |\n\n... and 1 more (--top 0 shows all)\n");
}

TEST(Render, CsvHasEveryColumnAndNothingElse) {
  EXPECT_EQ(render(numbered_rows(false), OutputFormat::csv),
            "name,time_us,note,key\r\na,1.25,,true\r\n\"b,c\",10,,false\r\n");
}

TEST(Render, JsonBeginsWithItsFormat) {
  EXPECT_EQ(render(numbered_rows(), OutputFormat::json),
            "{\n  \"format\": \"fatune.sample\",\n  \"format_version\": 1\n}\n");
}

TEST(Render, AColumnOfFiguresStaysWithoutAValue) {
  Table table{{{.name = "name", .heading = "what"}}, {{std::string("a")}}};
  insert_column(table, column_after(table, "name"), {.name = "x", .heading = "x", .figure = true},
                {FieldValue{}});
  append_column(table, {.name = "y", .heading = "y"}, {FieldValue{}});
  EXPECT_EQ(render_markdown({block::Rows{table}}), "| what | x |\n| --- | ---: |\n| a | - |\n");
  EXPECT_EQ(draw_csv(text_for_programs(table)), "name,x,y\r\na,,\r\n");
}

TEST(Render, ATerminalShowsParagraphsInPlaceOfRows) {
  const Table table{{{.name = "state", .heading = "state"}}, {{std::string("fine")}}};
  const Blocks blocks{
      block::Rows{table, kInRanking, 0, {{"fine", TextColour::green, " all of it\n"}}}};
  EXPECT_EQ(render_terminal(blocks, OutputFormat::table), "fine all of it\n");
  EXPECT_THAT(render_markdown(blocks), testing::HasSubstr("| fine |"));
}

}  // namespace
}  // namespace fatune
