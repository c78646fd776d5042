#include "cli/program.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using Words = std::vector<std::string>;

class Presets : public ProgramTest {
 protected:
  /// The problem of a configuration as `compile` prints it.
  json problem_of(const std::string& config, const Words& arguments) {
    Words all{"compile", "--seq", "512", "--format", "json", "--config", config};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return fatune_json(all)["problem"];
  }
};

void expect_members(const json& object, const json& expected) {
  for (const auto& [name, value] : expected.items()) {
    EXPECT_EQ(object[name], value) << name;
  }
}

TEST_F(Presets, ArePublishedModelsWithTheirSources) {
  const ProcessResult result = fatune({"list", "--presets", "--format", "json"});
  expect_ok(result);
  expect_schema(result.out, "presets");
  const json presets = json::parse(result.out)["presets"];
  EXPECT_GE(presets.size(), 12U);
  const auto llama = std::find_if(presets.begin(), presets.end(), [](const json& preset) {
    return preset["name"] == "llama-3.1-8b";
  });
  ASSERT_NE(llama, presets.end());
  EXPECT_EQ((*llama)["kv_heads"], 8);
  EXPECT_EQ((*llama)["window"], nullptr);
  EXPECT_EQ((*llama)["source"],
            "https://huggingface.co/meta-llama/Llama-3.1-8B/blob/main/config.json");
  EXPECT_THAT(fatune({"list", "--presets"}).out,
              AllOf(HasSubstr("mistral-7b-v0.1"), HasSubstr("4096"), HasSubstr("https://")));
}

TEST_F(Presets, GiveTheProblemButBatchAndLength) {
  expect_members(
      problem_of("(BF16, 128, 64, 64, 4): async+load_2_2_2_tiles", {"--preset", "mistral-7b-v0.1"}),
      {{"batch", 16}, {"heads", 32}, {"causal", true}, {"kv_heads", 8}, {"window", 4096}});
}

// For the GPU that decides most: of the families that a sweep tries, one has to have
// configurations.
TEST_F(Presets, EachHasConfigurationsInPrefillAndInDecoding) {
  const Words lengths[] = {{"--seq", "4096"}, {"--seq", "1", "--seq-kv", "4096"}};
  const auto keeps_some = [&](const Words& problem, const std::string& family) {
    Words all{"list",     "--arch", "sm_90a",   "--space", "tune",
              "--family", family,   "--format", "json"};
    all.insert(all.end(), problem.begin(), problem.end());
    const ProcessResult listed = fatune(all);
    return listed.exit_code == 0 && !json::parse(listed.out)["kept"].empty();
  };
  const json presets =
      json::parse(fatune({"list", "--presets", "--format", "json"}).out)["presets"];
  for (const json& preset : presets) {
    for (Words problem : lengths) {
      problem.insert(problem.end(), {"--preset", preset["name"].get<std::string>()});
      const Words families{"flash_sm90", "flash_decode", "flash_sm80", "flash_decode_sm80"};
      EXPECT_TRUE(std::ranges::any_of(
          families, [&](const std::string& family) { return keeps_some(problem, family); }))
          << preset["name"] << ' ' << problem[1];
    }
  }
}

TEST_F(Presets, WhatIsTypedWinsWhereverItStands) {
  const std::string config = "(FP16, 64, 64, 64, 4): async+load_2_2_2_tiles";
  const json expected{{"heads", 16}, {"causal", false}, {"kv_heads", 4}, {"window", 0}};
  const Words typed{"--heads",    "16", "--dhead",  "64", "--dtype",    "fp16",
                    "--kv-heads", "4",  "--window", "0",  "--no-causal"};
  Words before{"--preset", "mistral-7b-v0.1"};
  before.insert(before.end(), typed.begin(), typed.end());
  expect_members(problem_of(config, before), expected);
  Words after = typed;
  after.insert(after.end(), {"--preset", "mistral-7b-v0.1"});
  expect_members(problem_of(config, after), expected);
}

TEST_F(Presets, EveryCommandWithAProblemTakesThem) {
  const Words commands[] = {
      {"sweep", "--device", "none", "--no-emulate", "--no-db", "--seq", "64", "--batch", "1",
       "--space", kFewSpace},
      {"run", "--device", "none", "--no-emulate", "--no-db", "--seq", "64", "--batch", "1",
       "--config", "(FP16, 64, 64, 32, 4): async+load_2_2_2_tiles"},
      {"check", "--device", "none", "--seq", "64", "--space", kFewSpace},
      {"emulate", "--seq", "64", "--space", kFewSpace, "--heads", "1"},
      {"debug", "--device", "none", "--no-emulate", "--config",
       "(FP16, 64, 64, 32, 4): async+load_2_2_2_tiles"},
      {"compile", "--space", kFewSpace},
      {"list"}};
  for (Words command : commands) {
    command.insert(command.end(), {"--preset", "gpt2"});
    SCOPED_TRACE(command.front());
    expect_ok(fatune(command));
  }
}

TEST_F(Presets, OneThatIsNotThereIsAnErrorWithTheNearestOrAll) {
  expect_error(fatune({"sweep", "--preset", "lama-3.1-8b"}), ExitCode::usage,
               {"--preset: there is no preset 'lama-3.1-8b'", "did you mean 'llama-3.1-8b'?"});
  expect_error(fatune({"compile", "--preset", "nobody"}), ExitCode::usage,
               {"there is no preset 'nobody'", "known: bert-large, ", "qwen3-8b"});
}

TEST_F(Presets, WhatAFamilyCannotDoIsRefusedWithTheReason) {
  expect_error(
      fatune({"sweep", "--device", "none", "--family", "flash_sm80", "--preset", "deepseek-v3"}),
      ExitCode::nothing_ranked, {"d_head is 192; flash_sm80 understands 64, 96, 128"});
  expect_error(fatune({"run", "--preset", "qwen3-8b", "--config", kConfig}), ExitCode::usage,
               {"the configuration is for FP16", "--preset sets it too"});
}

TEST_F(Presets, TheKernelForHopperTakesOneWhoseVHasShorterRows) {
  const json report = fatune_json(
      {"run", "--device", "none", "--no-emulate", "--no-db", "--preset", "deepseek-v3", "--config",
       "(ws, BF16, 192, 128, 64, 2, 8, 2): overlap+slots_1+cluster_1", "--format", "json"});
  const json& problem = report["problems"][0];
  EXPECT_EQ(problem["problem"]["d_head"], 192);
  EXPECT_EQ(problem["problem"]["d_head_v"], 128);
  EXPECT_EQ(problem["ranking"].size(), 1U);
}

TEST_F(Presets, DebugShowsTheStepsOfThoseThatMaskNothingElse) {
  const auto debug = [&](const Words& more) {
    Words all{"debug", "--device", "none", "--no-emulate", "--format", "json"};
    all.insert(all.end(), more.begin(), more.end());
    return fatune(all);
  };
  const std::string config = "(BF16, 128, 64, 32, 4): async+load_2_2_2_tiles";
  const ProcessResult far = debug({"--preset", "mistral-7b-v0.1", "--config", config});
  expect_ok(far);
  EXPECT_EQ(json::parse(far.out)["problem"]["causal"], true);
  expect_error(debug({"--preset", "mistral-7b-v0.1", "--config", config, "--seq", "5000"}),
               ExitCode::usage, {"debug cannot show the steps of a problem with window 4096"});
}

TEST_F(Presets, TheSmallCheckHasAHeadForEachHeadOfKeysThatIsAskedFor) {
  const json checks = fatune_json({"check", "--small", "--device", "none", "--config", kConfig,
                                   "--kv-heads", "2", "--format", "json"});
  EXPECT_EQ(checks["complete"], true);
}

}  // namespace
}  // namespace fatune::testing_cli
