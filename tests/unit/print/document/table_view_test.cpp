#include "print/document/document.hpp"

#include <cmath>

#include <gmock/gmock.h>

#include "base/error.hpp"

namespace fatune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Three records: two with a time, one without.
Table sample_records() {
  Table table;
  table.columns = {{.name = "config", .heading = "config"},
                   {.name = "time_us", .heading = "us", .look = {.decimals = 1}},
                   {.name = "family", .heading = "", .look = kProgramsOnly},
                   {.name = "is_new", .heading = "new"},
                   {.name = "note", .heading = "note"}};
  table.rows = {
      {"c10", 30.0, "b", true, {}}, {"c9", 20.5, "a", false, {}}, {"c1", {}, "a", true, {}}};
  return table;
}

std::vector<std::string> configs(const TableView& view) {
  std::vector<std::string> names;
  for (const auto& row : viewed(sample_records(), view).rows) {
    names.push_back(std::get<std::string>(row[0]));
  }
  return names;
}

std::vector<std::string> filtered(const std::string& expression) {
  return configs({.filter = expression});
}

std::string message_of(const TableView& view) {
  try {
    static_cast<void>(viewed(sample_records(), view));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

TEST(TableView, SortsByTypeAndPutsWhatHasNoValueLast) {
  EXPECT_THAT(configs({.sort = "time_us"}), ElementsAre("c9", "c10", "c1"));
  EXPECT_THAT(configs({.sort = "time_us", .descending = true}), ElementsAre("c10", "c9", "c1"));
  EXPECT_THAT(configs({.sort = "family"}), ElementsAre("c9", "c1", "c10")) << "equal ones stay";
  EXPECT_THAT(configs({.sort = "is_new"}), ElementsAre("c9", "c10", "c1"));
}

TEST(TableView, FiltersByExpressionsOfTypedFields) {
  EXPECT_THAT(filtered("time_us < 25"), ElementsAre("c9"));
  EXPECT_THAT(filtered("family == 'a'"), ElementsAre("c9", "c1"));
  EXPECT_THAT(filtered("family == \"a\" && is_new"), ElementsAre("c1"));
  EXPECT_THAT(filtered("is_new == false"), ElementsAre("c9"));
  EXPECT_THAT(filtered("family != 'not there'"), ElementsAre("c10", "c9", "c1"));
  EXPECT_THAT(filtered("family > 'a'"), ElementsAre("c10"));
}

TEST(TableView, LeavesOutWhatItIsNotKnownOf) {
  EXPECT_THAT(filtered("time_us > 0"), ElementsAre("c10", "c9"));
  EXPECT_THAT(filtered("time_us > 0 || family == 'a'"), ElementsAre("c10", "c9", "c1"));
  EXPECT_THAT(filtered("!(time_us > 25)"), ElementsAre("c9"));
  EXPECT_THAT(filtered("time_us / 0 > 1"), ElementsAre());
}

TEST(TableView, NamesWhatItDoesNotKnow) {
  const std::string columns = "config, time_us, family, is_new, note";
  EXPECT_THAT(message_of({.columns = {"config", "tme"}}),
              testing::AllOf(HasSubstr("--columns: there is no column 'tme'"), HasSubstr(columns)));
  EXPECT_THAT(message_of({.sort = "tme"}),
              testing::AllOf(HasSubstr("--sort: there is no column 'tme'"), HasSubstr(columns)));
  EXPECT_THAT(
      message_of({.filter = "tme < 3"}),
      testing::AllOf(HasSubstr("--filter"), HasSubstr("unknown name 'tme'"), HasSubstr(columns)));
  EXPECT_THAT(message_of({.filter = "time_us <"}), HasSubstr("--filter"));
  EXPECT_THAT(message_of({.filter = "family == 'a"}),
              HasSubstr("a quote without an end at position 11"));
  EXPECT_THAT(message_of({.filter = "time_us = 3"}), HasSubstr("'==' compares"));
}

TEST(TableView, ComparesValuesOfOneTypeOnly) {
  for (const auto& [filter, reason] : std::vector<std::pair<std::string, std::string>>{
           {"config == 3", "\"config == 3\": config is text, but 3 is a number"},
           {"time_us > 'abc'", "time_us is a number, but 'abc' is text"},
           {"time_us < 25 && 'a' < time_us", "'a' is text, but time_us is a number"},
           {"is_new == 'yes'", "is_new is true or false, but 'yes' is text"},
           {"family", "family is text, not a condition"},
           {"!family", "family is text, with which '!' cannot compute"},
           {"family && is_new", "family is text, with which '&&' cannot compute"},
           {"time_us + family > 3", "family is text, with which '+' cannot compute"},
           {"max(time_us, 'a') > 3", "'a' is text, with which 'max' cannot compute"},
           {"(is_new ? family : 3) == 3", "family is text, but 3 is a number"},
           {"time_us > family", "time_us is a number, but family is text"}}) {
    const std::string message = message_of({.filter = filter});
    EXPECT_THAT(message, testing::AllOf(HasSubstr("--filter"), HasSubstr(reason))) << filter;
    EXPECT_THAT(message, testing::Not(HasSubstr("text_"))) << filter;
  }
}

TEST(TableView, TakesColumnsWithoutValuesForAnyType) {
  EXPECT_THAT(filtered("note == 'a'"), ElementsAre());
  EXPECT_THAT(filtered("note == 3 || is_new"), ElementsAre("c10", "c1"));
}

TEST(TableView, ChoosesByFunctionsAndConditions) {
  EXPECT_THAT(filtered("max(time_us, 25) == 30"), ElementsAre("c10"));
  EXPECT_THAT(filtered("(is_new ? family : 'c') == 'b'"), ElementsAre("c10"));
  EXPECT_THAT(filtered("-time_us ^ 2 < -899"), ElementsAre("c10"));
  EXPECT_THAT(
      message_of({.filter = "floor(1, 2) == 3"}),
      testing::AllOf(HasSubstr("2 values for floor, which takes 1"), HasSubstr("round_up")));
  EXPECT_THAT(message_of({.filter = "system('x')"}), HasSubstr("unknown function 'system'"));
}

/// A document with the records and one warning.
Document sample_document() {
  return {[] {
            return Blocks{block::Warning{"NOT MEASURED"}, block::Text{"head\n"},
                          block::Rows{sample_records()}};
          },
          sample_records, [] { return json_head("sample"); }};
}

std::string rendered(OutputFormat format, const TableView& view) {
  const Document document = sample_document();
  return render(viewed(document, view), format);
}

TEST(TableView, EveryFormatFollowsIt) {
  const TableView view{.columns = {"family", "note", "time_us"}, .sort = "time_us"};
  EXPECT_EQ(rendered(OutputFormat::table, view),
            "NOT MEASURED\nfamily  note    us\na          -  20.5\nb          -  30.0\na          "
            "-     -\n");
  EXPECT_EQ(rendered(OutputFormat::csv, view),
            "family,note,time_us\r\na,,20.5\r\nb,,30\r\na,,\r\n");
  EXPECT_THAT(rendered(OutputFormat::markdown, view), HasSubstr("| a | - | 20.5 |\n"));
  EXPECT_EQ(Json::parse(rendered(OutputFormat::json, view)),
            Json::parse(R"({"format": "fatune.records", "format_version": 1, "records": [
              {"family": "a", "note": null, "time_us": 20.5}, {"family": "b", "note": null, "time_us": 30.0},
              {"family": "a", "note": null, "time_us": null}]})"));
}

TEST(TableView, ATerminalShowsTheFirst) {
  EXPECT_THAT(rendered(OutputFormat::table, {.columns = {"config"}, .top = 1}),
              testing::EndsWith("config\nc10\n... and 2 more (--top 0 shows all)\n"));
  EXPECT_EQ(rendered(OutputFormat::csv, {.columns = {"config"}, .top = 1}),
            "config\r\nc10\r\nc9\r\nc1\r\n");
}

TEST(TableView, JsonLinesAreARecordEach) {
  EXPECT_EQ(json_lines(viewed(sample_records(), {.columns = {"config", "is_new", "time_us"}})),
            "{\"config\":\"c10\",\"is_new\":true,\"time_us\":30.0}\n"
            "{\"config\":\"c9\",\"is_new\":false,\"time_us\":20.5}\n"
            "{\"config\":\"c1\",\"is_new\":true,\"time_us\":null}\n");
}

}  // namespace
}  // namespace fatune
