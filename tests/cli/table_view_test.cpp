// Tests --columns, --sort and --filter in the commands that have them.
#include "cli/program.hpp"

#include <algorithm>

namespace fatune::testing_cli {
namespace {

using nlohmann::json;

using testing::HasSubstr;
using testing::Not;

class View : public ProgramTest {
 protected:
  /// Runs five configurations and two lengths on a fake GPU.
  void measure() {
    use_fake_worker({{"noise_percent", 0.2}, {"us", {{"64, 64, 4", 100.0}, {"32, 4", 140.0}}}});
    expect_ok(fatune({"sweep", "--space", "prog", "--seq", "128,256", "--batch", "1", "--repeats",
                      "4", "--dtype", "fp16"}));
  }

  std::vector<double> times(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"show", "last", "--format", "json", "--columns", "time_us"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProcessResult result = fatune(arguments);
    expect_ok(result);
    expect_schema(result.out, "records");
    std::vector<double> all;
    const json printed = json::parse(result.out);
    for (const json& record : printed["records"]) {
      all.push_back(record["time_us"]);
    }
    return all;
  }
};

TEST_F(View, ShowsAStoredRunAsOneTable) {
  measure();
  const std::vector<double> all = times({"--sort", "time_us"});
  EXPECT_EQ(all.size(), 14U);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  const std::vector<double> falling = times({"--sort", "time_us:desc"});
  EXPECT_TRUE(std::is_sorted(falling.rbegin(), falling.rend()));
  EXPECT_EQ(times({"--filter", "seq_len == 128 && B_r == 64"}).size(), 7U);
  EXPECT_EQ(times({"--filter", "seq_len == 128 && B_r == 128"}).size(), 0U);
  EXPECT_EQ(times({"--filter", "outcome == 'measured' && !swizzled"}).size(), 2U);
  const ProcessResult table =
      fatune({"show", "last", "--columns", "seq_len,time_us", "--top", "3"});
  EXPECT_THAT(table.out, testing::StartsWith("seq"));
  EXPECT_THAT(table.out, HasSubstr("... and 11 more"));
}

TEST_F(View, CsvAndMarkdownFollow) {
  EXPECT_EQ(fatune({"list", "--space", "prog", "--dtype", "fp16", "--columns", "status", "--format",
                    "csv", "--filter", "rule == 'none'"})
                .out,
            "status\r\n");
  EXPECT_THAT(fatune({"list", "--space", "tune", "--pruned", "--filter", "status == 'pruned'",
                      "--columns", "rule,status", "--sort", "rule", "--format", "md"})
                  .out,
              testing::StartsWith("| rule | status |\n"));
}

TEST_F(View, HistoryIsOrdered) {
  measure();
  expect_ok(fatune({"run", "--config", kConfig, "--seq", "128", "--batch", "1", "--repeats", "4"}));
  EXPECT_EQ(
      fatune({"history", "--columns", "run,problems", "--sort", "run", "--format", "csv"}).out,
      "run,problems\r\n1,2\r\n2,1\r\n");
  EXPECT_EQ(
      fatune({"history", "--columns", "run", "--filter", "problems > 1", "--format", "jsonl"}).out,
      "{\"run\":1}\n");
}

TEST_F(View, AMistakeInItIsFoundBeforeAnythingIsMeasured) {
  use_fake_worker({{"noise_percent", 0.2}});
  const std::vector<std::string> sweep{"sweep", "--space", "prog", "--seq", "128"};
  const auto with = [&](const std::string& option, const std::string& value) {
    std::vector<std::string> arguments = sweep;
    arguments.insert(arguments.end(), {option, value});
    return fatune(arguments);
  };
  for (const auto& [option, value] : std::vector<std::pair<std::string, std::string>>{
           {"--columns", "config,tme_us"}, {"--sort", "tme_us"}, {"--filter", "tme_us < 3"}}) {
    const ProcessResult result = with(option, value);
    expect_error(result, ExitCode::usage, {option + ": ", "'tme_us'", "time_us", "B_r"});
    EXPECT_THAT(result.out, testing::IsEmpty());
  }
  EXPECT_THAT(fatune({"history"}).out, HasSubstr("no run is stored"));
  expect_error(with("--columns", "duration_us"), ExitCode::usage, {"'duration_us'"});
  expect_error(with("--columns", ","), ExitCode::usage, {"--columns: the text is empty"});
}

TEST_F(View, AComparisonOfTwoTypesIsAnError) {
  use_fake_worker({{"noise_percent", 0.2}});
  for (const auto& [filter, reason] : std::vector<std::pair<std::string, std::string>>{
           {"config == 3", "config is text, but 3 is a number"},
           {"time_us > 'abc'", "time_us is a number, but 'abc' is text"},
           {"B_r == '128'", "B_r is a number, but '128' is text"},
           {"swizzled == 'yes'", "swizzled is true or false, but 'yes' is text"},
           {"dtype == 15", "dtype is text, but 15 is a number"}}) {
    const ProcessResult result =
        fatune({"sweep", "--space", "prog", "--seq", "128", "--filter", filter});
    expect_error(result, ExitCode::usage, {"--filter", reason});
    EXPECT_THAT(result.out, testing::IsEmpty());
    EXPECT_THAT(result.err, Not(HasSubstr("text_")));
  }
  EXPECT_THAT(fatune({"history"}).out, HasSubstr("no run is stored"));
  expect_error(fatune({"history", "--filter", "problems == 'x'"}), ExitCode::usage,
               {"problems is a number, but 'x' is text"});
  expect_error(fatune({"list", "--filter", "config == 3"}), ExitCode::usage,
               {"config is text, but 3 is a number"});
}

TEST_F(View, ParametersOfConfigurationsAreColumnsToo) {
  EXPECT_EQ(fatune({"list", "--space", "prog", "--dtype", "fp16", "--filter",
                    "B_r == 64 && swizzled && !optimized_softmax", "--columns", "B_r,B_c,n_warps",
                    "--sort", "B_c", "--format", "csv"})
                .out,
            "B_r,B_c,n_warps\r\n64,64,4\r\n64,64,4\r\n64,64,4\r\n64,64,4\r\n");
  EXPECT_EQ(fatune({"list", "--space", "tune", "--pruned", "--filter",
                    "B_r == 128 && status == 'kept'", "--columns", "status", "--format", "csv"})
                .out.find("pruned"),
            std::string::npos);
  measure();
  EXPECT_EQ(fatune({"show", "last", "--filter", "B_r == 128", "--columns", "B_r,time_us",
                    "--format", "csv"})
                .out,
            "B_r,time_us\r\n");
}

TEST_F(View, SaysThatNothingWasMeasured) {
  const ProcessResult result = fatune({"sweep", "--space", "prog", "--seq", "64", "--no-emulate",
                                       "--dtype", "fp16", "--columns", "config,time_us"});
  expect_ok(result);
  EXPECT_THAT(result.out, testing::StartsWith("NOT MEASURED"));
  EXPECT_THAT(result.out, Not(HasSubstr("regs")));
}

TEST_F(View, HostileTextsHaveNoEffect) {
  for (const std::string text : {"\x1b[31m", "a' || 1 == 1", "x\n\ny", "\xff\xfe", "'", "((((",
                                 "1e999", "config == 'a\x1b[2J'"}) {
    const ProcessResult result = fatune({"list", "--space", "prog", "--filter", text});
    EXPECT_THAT(result.out + result.err, Not(HasSubstr("\x1b"))) << text;
    EXPECT_THAT(result.err, Not(HasSubstr("internal error"))) << text;
  }
  for (const char* option : {"--columns", "--sort"}) {
    const ProcessResult result = fatune({"list", "--space", "prog", option, "\x1b[31m\xff"});
    EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::usage));
    EXPECT_THAT(result.out + result.err, Not(HasSubstr("\x1b"))) << option;
  }
}

}  // namespace
}  // namespace fatune::testing_cli
