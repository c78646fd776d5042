// Tests `fatune cases` with scripted times on the fake driver, and without a GPU.
#include "cli/program.hpp"

#include "base/file_tree.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class Cases : public ProgramTest {
 protected:
  void times_are(const json& us_by_label) {
    use_fake_worker({{"noise_percent", 0.2}, {"us", us_by_label}});
  }
  /// Each variant has one configuration of the small space.
  ProcessResult cases(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"cases", "hopper", "--space", "hopper_ci", "-q"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fatune(arguments);
  }
  /// The built-in set with one value changed.
  std::string set_with(const char* pointer, const json& value) {
    json set = json::parse(FileTree().read("configs/cases/hopper.json"));
    set[json::json_pointer(pointer)] = value;
    write("my_cases.json", set.dump());
    return path("my_cases.json");
  }
};

TEST_F(Cases, CompareVariantsByWhatWasMeasured) {
  times_are({{"(ws_pp", 80.0}, {"(ws,", 100.0}});
  const ProcessResult result = cases({"--format", "json"});
  expect_ok(result);
  expect_schema(result.out, "cases");
  const json report = json::parse(result.out);
  EXPECT_TRUE(report["measured"]);
  ASSERT_EQ(report["results"].size(), 4U);
  const json& short_pp = report["results"][1];
  EXPECT_EQ(short_pp["variant"], "ws_pp");
  EXPECT_EQ(short_pp["problem"]["heads"], 32);
  EXPECT_EQ(short_pp["seq_len"], 128);
  EXPECT_NEAR(short_pp["time_ms"], 0.080, 0.001);
  EXPECT_NEAR(short_pp["speed_up"], 1.25, 0.02);
  EXPECT_NEAR(short_pp["memory_mb"], 4.194304, 1e-6);
  EXPECT_NEAR(short_pp["gbps"], 52.4, 0.5);
  EXPECT_EQ(short_pp["verified"], "gpu");
  EXPECT_EQ(short_pp["parameters"]["BLOCK_N"], 64);
  EXPECT_EQ(short_pp["parameters"]["num_warps"], 16);
  EXPECT_NEAR(report["results"][3]["scaling"], 4096.0, 50.0);
}

TEST_F(Cases, TimeTheBestOnesSideBySide) {
  times_are({{"(ws_pp", 80.0}, {"(ws,", 100.0}});
  expect_ok(cases({"--seq", "128"}));
  const json last = fatune_json({"show", "last", "--format", "json"});
  EXPECT_EQ(last["problems"][0]["ranking"].size(), 2U);
  EXPECT_EQ(last["policy"]["strategy"], "exhaustive");
}

TEST_F(Cases, SayWithoutAGpuThatNothingWasTimed) {
  const ProcessResult result = cases({"--seq", "128", "--no-emulate"});
  expect_ok(result);
  EXPECT_THAT(result.out,
              AllOf(testing::StartsWith("NOT MEASURED: nothing was timed"), HasSubstr("speed-up"),
                    HasSubstr("NUM_MMA_GROUPS"), HasSubstr("ws_pp at 128: (ws_pp, FP16, 128")));
  const ProcessResult markdown = cases({"--seq", "128", "--no-emulate", "--format", "md"});
  EXPECT_THAT(markdown.out, AllOf(HasSubstr("**NOT MEASURED"), HasSubstr("| ws_pp | 128 |")));
}

TEST_F(Cases, SayWhyNothingRuns) {
  const ProcessResult result = cases({"--seq", "128", "--arch", "sm_80"});
  EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::nothing_ranked));
  EXPECT_THAT(result.out,
              HasSubstr("ws at 128: no configuration has a time: flash_sm90 needs sm_90a"));
}

TEST_F(Cases, CanBeOnesOwn) {
  json set = json::parse(FileTree().read("configs/cases/hopper.json"));
  set["variants"] = {{{"name", "plain"}, {"values", {{"overlap", "false"}}}}};
  write("mine.json", set.dump());
  const ProcessResult result = fatune(
      {"cases", path("mine.json"), "--space", "hopper_ci", "--seq", "128", "--no-emulate", "-q"});
  expect_ok(result);
  EXPECT_THAT(result.out, HasSubstr("plain at 128: "));
}

TEST_F(Cases, SayWhatIsWrongWithThem) {
  expect_error(fatune({"cases", "hoper"}), ExitCode::usage, {"no cases 'hoper'", "hopper"});
  expect_error(fatune({"cases", set_with("/variants/0/values", {{"variannt", "ws"}})}),
               ExitCode::bad_file, {"/variants/0/values", "no parameter 'variannt'"});
  expect_error(fatune({"cases", set_with("/variants/0/values", {{"variant", "wss"}})}),
               ExitCode::bad_file, {"/variants/0/values", "'wss' is not a value of variant"});
  expect_error(fatune({"cases", set_with("/seq_lens", json::array())}), ExitCode::bad_file,
               {"/seq_lens"});
  const auto unknown =
      fatune({"cases", set_with("/shown", {"BLOCK_X"}), "--space", "hopper_ci", "--no-emulate"});
  expect_error(unknown, ExitCode::bad_file, {"/shown", "'BLOCK_X'"});
  EXPECT_THAT(unknown.err, Not(HasSubstr("ranked"))) << "said before anything is measured";
  expect_error(fatune({"cases", set_with("/variants/0/values", {{"BLOCK_M", "64"}}), "--space",
                       "hopper_ci"}),
               ExitCode::nothing_ranked, {"space hopper_ci keeps no configuration of ws"});
  expect_error(fatune({"cases", "hopper", "--family", "flash_sm80"}), ExitCode::bad_file,
               {"flash_sm80 has no parameter 'variant'"});
}

TEST_F(Cases, TypesWithoutAConfigurationAreSaidToBeLeftOut) {
  const ProcessResult result = fatune({"cases", "hopper", "--space", "hopper_ci", "--seq", "128",
                                       "--dhead", "128,40", "--no-emulate", "--device", "none"});
  EXPECT_THAT(result.err, HasSubstr("left out, because no configuration is for it: d_head 40"));
}

}  // namespace
}  // namespace fatune::testing_cli
