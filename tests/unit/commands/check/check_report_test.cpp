#include "commands/check/check_report.hpp"

#include <algorithm>

#include <gmock/gmock.h>

#include "base/json_file.hpp"
#include "print/document/document.hpp"

namespace fatune {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// Two heads of 128 rows. The last 16 of every 64 rows are wrong.
CheckedInput wrong_rows() {
  CheckedInput checked{{1, 128, 2, 64, DType::bf16, false}, "one", 7,
                       OutcomeKind::wrong_result,           {},    "off"};
  checked.stats = ErrorStats{};
  checked.stats->input = "normal";
  checked.rows = RowMismatches{"normal", 128, {}, {}, {}};
  for (int i = 0; i < 256; ++i) {
    const int row = i % 128;
    checked.rows->row.push_back(row);
    checked.rows->mismatched.push_back(row % 2 + (row % 64 >= 48 ? 10 : 0));
    checked.rows->beyond_limit.push_back(row % 64 >= 48 ? row : 0);
  }
  return checked;
}

CheckedInput flagged() {
  CheckedInput checked{
      {1, 128, 2, 64, DType::bf16, false}, "one", 7, OutcomeKind::flagged, {}, "a race"};
  checked.tool = "racecheck";
  checked.findings.push_back({"race",
                              "Race reported between Write access",
                              "one",
                              "one+0x90",
                              {"Read access at one+0xa0"},
                              "shared",
                              0,
                              "",
                              "",
                              "",
                              16});
  return checked;
}

TEST(CheckReport, TablesSayWhatTheWrongRowsHaveInCommon) {
  const std::string text = render(check_document({wrong_rows()}), OutputFormat::table);
  EXPECT_THAT(text, HasSubstr("1 of 1 WRONG"));
  EXPECT_THAT(text, HasSubstr("b1 s128 h2 d64 BF16, one, seed 7, normal: 64 of 256 rows beyond "
                              "the limit (160 with a mismatched element), in 2 of 2 heads: rows "
                              "48-63, 112-127; of every 64 rows: 48-63"));
  EXPECT_THAT(text, HasSubstr("batch  head  row  mismatched  beyond limit\n"
                              "    0     0  127          11           127\n"
                              "    0     1  127          11           127\n"));
}

/// A right result with this error. O has a limit of 1. Other outputs have a limit of 0, because
/// their values are not compared.
CheckedInput right_output(const std::string& output, double error) {
  CheckedInput checked{{1, 128, 2, 64, DType::bf16, false}, "one", 7, OutcomeKind::right, {}, ""};
  checked.stats = ErrorStats{};
  checked.stats->input = "normal";
  checked.stats->output = output;
  checked.stats->max_abs_error = error;
  checked.stats->limit = output == "O" ? 1.0 : 0.0;
  return checked;
}

TEST(CheckReport, TablesShowNoOutputThatIsNotComparedForTheWorst) {
  const std::string text = render(
      check_document({right_output("O", 0.25), right_output("extra", 0)}), OutputFormat::table);
  EXPECT_THAT(text, HasSubstr("0.25"));
  EXPECT_THAT(text, HasSubstr("all 1 right"));
}

TEST(CheckReport, ProgramsAreToldWhichOutputARowIsOf) {
  const json report = json::parse(render(
      check_document({right_output("O", 0.25), right_output("extra", 0)}), OutputFormat::json));
  EXPECT_EQ(report["checks"][0]["output"], "O");
  EXPECT_EQ(report["checks"][1]["output"], "extra");
}

TEST(CheckReport, JsonHasRowsAndFindingsAsItsSchemaSays) {
  const std::string text = render(check_document({wrong_rows(), flagged()}), OutputFormat::json);
  const json report = parse_json(text, "report");
  EXPECT_NO_THROW(check_schema(report, FileTree(), "check", "report")) << text;
  const json& rows = report["checks"][0]["rows"];
  EXPECT_EQ(rows["beyond_limit"], 64);
  EXPECT_EQ(rows["period"], 64);
  EXPECT_EQ(rows["period_ranges"], "48-63");
  EXPECT_EQ(rows["worst"].size(), 10U);
  EXPECT_EQ(rows["positions"].size(), 64U + 16U) << "odd ones, and the even ones of 48-63";
  const json& finding = report["checks"][1]["findings"][0];
  EXPECT_EQ(finding["space"], "shared");
  EXPECT_TRUE(finding["size_bytes"].is_null());
  EXPECT_EQ(finding["count"], 16);
}

TEST(CheckReport, ACsvOfRowsHasThoseWithAMismatch) {
  const std::string text =
      render(check_document({wrong_rows(), flagged()}, {}, true), OutputFormat::csv);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 160);
  EXPECT_THAT(text, HasSubstr("b1 s128 h2 d64 BF16,one,7,normal,0,1,127,11,127\r\n"));
}

TEST(CheckReport, AToolsRowIsNoInputOfTheSameRun) {
  const std::string text = render(check_document({wrong_rows(), flagged()}), OutputFormat::table);
  EXPECT_THAT(text, AllOf(HasSubstr("2 of 2 WRONG"), HasSubstr("racecheck"), HasSubstr("a race")));
}

}  // namespace
}  // namespace fatune
