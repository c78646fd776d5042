// What sweep and run do on a machine without a GPU.
#include "cli/program.hpp"

#include <sstream>

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class NoGpu : public ProgramTest {};

const std::vector<std::string> kSmallSweep{"sweep",   "--seq", "512",     "--dhead", "128",
                                           "--dtype", "fp16",  "--space", "64,32"};

std::vector<std::string> with(std::vector<std::string> arguments,
                              const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

TEST_F(NoGpu, SweepRanksByEstimateAndSaysSoFirstAndLast) {
  const ProcessResult result = fatune(kSmallSweep);
  expect_ok(result);
  EXPECT_THAT(result.err, StartsWith("NOT MEASURED: "));
  EXPECT_THAT(lines_of(result.out).front(), StartsWith("NOT MEASURED"));
  EXPECT_THAT(lines_of(result.out).back(), StartsWith("NOT MEASURED"));
  EXPECT_THAT(result.out, HasSubstr("8 ranked, 0 failed, 24 pruned"));
  EXPECT_THAT(result.err, HasSubstr("[8/8]"));
  EXPECT_THAT(result.err, Not(HasSubstr("\x1b")));
}

TEST_F(NoGpu, EveryFormatSaysThatNothingWasMeasured) {
  const ProcessResult result = fatune(with(kSmallSweep, {"--format", "json"}));
  expect_schema(result.out, "results");
  const json report = json::parse(result.out);
  EXPECT_FALSE(report["measured"]);
  EXPECT_TRUE(report["complete"]);
  EXPECT_EQ(report["problems"][0]["ranking"].size(), 8U);
  EXPECT_EQ(report["problems"][0]["ranking"][0]["outcome"], "estimated");
  EXPECT_THAT(lines_of(result.err).back(), StartsWith("NOT MEASURED"));
  EXPECT_THAT(fatune(with(kSmallSweep, {"--format", "csv"})).out, HasSubstr(",estimated,false,"));
  EXPECT_THAT(fatune(with(kSmallSweep, {"--format", "md"})).out, StartsWith("**NOT MEASURED"));
}

TEST_F(NoGpu, QuietKeepsStandardErrorEmpty) {
  EXPECT_EQ(fatune(with(kSmallSweep, {"--quiet"})).err, "");
}

TEST_F(NoGpu, RequireGpuIsAnError) {
  expect_error(fatune(with(kSmallSweep, {"--require-gpu"})), ExitCode::no_gpu,
               {"a GPU is required", "libcuda", "let FATUNE_LIBCUDA name the driver"});
  expect_error(fatune(with(kSmallSweep, {"--device", "0"})), ExitCode::no_gpu, {"libcuda"});
}

TEST_F(NoGpu, EstimatesForOtherArchitectures) {
  const json report = fatune_json(
      {"run", "--seq", "512", "--arch", "sm_80", "--format", "json", "--config", kConfig});
  EXPECT_EQ(report["device"]["arch"], "sm_80");
  EXPECT_EQ(report["device"]["sm_count"], 108);
}

TEST_F(NoGpu, WithoutSwizzleTheEstimatePaysForBankConflicts) {
  const json report = fatune_json({"run", "--seq", "1024", "--format", "json", "--config",
                                   "(FP16, 128, 64, 64, 4): async+load_0_0_0_tiles", "--config",
                                   "(FP16, 128, 64, 64, 4): async+swizzled+load_0_0_0_tiles"});
  const json& ranking = report["problems"][0]["ranking"];
  ASSERT_EQ(ranking.size(), 2U);
  EXPECT_TRUE(ranking[0]["parameters"]["swizzled"]);
  EXPECT_GT(ranking[1]["time_us"], 1.5 * double(ranking[0]["time_us"]));
}

TEST_F(NoGpu, RunReadsKernelNames) {
  const json report = fatune_json(
      {"run", "--seq", "512", "--format", "json", "--config",
       "void flash_forward_kernel<FlashForwardKernelConfig{5, 128, 64, 32, 4, 1, 1, 1, 2, 2, 2, 0, "
       "1}>(AttentionForwardArgs)"});
  EXPECT_EQ(report["problems"][0]["ranking"][0]["config"], kConfig);
}

TEST_F(NoGpu, RaggedLengthsAreTaken) {
  const json report = fatune_json(
      {"run", "--seq", "1,333,512", "--causal", "--format", "json", "--config", kConfig});
  ASSERT_EQ(report["problems"].size(), 3U);
  EXPECT_EQ(report["problems"][1]["problem"]["seq_len"], 333);
  EXPECT_EQ(report["problems"][1]["ranking"].size(), 1U);
}

TEST_F(NoGpu, RunsRepeatTheWhole) {
  const json report =
      fatune_json({"run", "--seq", "512", "--runs", "3", "--format", "json", "--config", kConfig});
  ASSERT_EQ(report["problems"].size(), 3U);
  EXPECT_EQ(report["problems"][2]["run"], 3);
}

TEST_F(NoGpu, ABaselineCountsAsAHundredPercent) {
  const json report = fatune_json(with(kSmallSweep, {"--format", "json", "--baseline", kConfig}));
  for (const json& entry : report["problems"][0]["ranking"]) {
    if (entry["config"] == kConfig) {
      EXPECT_DOUBLE_EQ(entry["relative_percent"], 100.0);
    }
  }
}

TEST_F(NoGpu, AProblemThatFitsNoSuchGpuIsRefusedWithTheFigures) {
  expect_error(
      fatune({"run", "--seq", "1000000", "--batch", "64", "--heads", "64", "--config", kConfig}),
      ExitCode::too_large, {"GiB"});
}

TEST_F(NoGpu, AFamilyOfTheUsersGoesAllTheWay) {
  const json report = fatune_json({"sweep", "--kernel-dir", kToyFolder, "--seq", "128", "--dtype",
                                   "fp16", "--dhead", "64", "--format", "json"});
  EXPECT_EQ(report["family"], "toy_attention");
  EXPECT_FALSE(report["problems"][0]["ranking"].empty());
  EXPECT_TRUE(report["problems"][0]["failures"].empty());
}

}  // namespace
}  // namespace fatune::testing_cli
