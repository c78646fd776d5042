// Tests a family whose kernel takes arguments that no struct of fatune has: tests/families/tma_toy.
#include <filesystem>
#include <functional>

#include "cli/program.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const std::string kTmaFolder = FATUNE_SOURCE_DIR "/tests/families/tma_toy";

class OwnArguments : public ProgramTest {
 protected:
  /// Copies the family with a changed family.json. Returns the folder.
  [[nodiscard]] std::string changed(const std::function<void(json&)>& change) const {
    const std::filesystem::path folder = folder_ / "tma_toy";
    std::filesystem::copy(kTmaFolder, folder, std::filesystem::copy_options::recursive);
    json family = json::parse(read("tma_toy/family.json"));
    change(family);
    write("tma_toy/family.json", family.dump());
    return folder.string();
  }

  /// Emulates a family. A changed family is compiled anew, for one type only.
  json emulate(const std::string& folder, ExitCode expected = ExitCode::ok) {
    std::vector<std::string> arguments{"emulate", "--kernel-dir", folder,     "--seq",
                                       "77",      "--batch",      "2",        "--heads",
                                       "2",       "--causal",     "--format", "json"};
    if (folder != kTmaFolder) {
      arguments.insert(arguments.end(), {"--dtype", "fp16"});
    }
    const json report = fatune_json(arguments, expected);
    EXPECT_FALSE(report["configs"].empty());
    return report;
  }
};

TEST_F(OwnArguments, TensorMapsCountersAndOutputsAreEmulated) {
  const json report = emulate(kTmaFolder);
  EXPECT_EQ(report["arch"], "sm_90a");
  ASSERT_EQ(report["configs"].size(), 8U);
  for (const json& config : report["configs"]) {
    EXPECT_EQ(config["outcome"], "right") << config.dump(2);
  }
}

TEST_F(OwnArguments, ACounterThatNobodyClearsIsFoundInTheSecondLaunch) {
  const std::string folder = changed([](json& family) { family["workspace"][0].erase("clear"); });
  const json report = emulate(folder, ExitCode::failed_outcomes);
  for (const json& config : report["configs"]) {
    const bool dynamic = config["config"].get<std::string>().ends_with("dynamic");
    EXPECT_EQ(config["outcome"], dynamic ? "flagged" : "right") << config.dump(2);
  }
  EXPECT_THAT(report.dump(), HasSubstr("wrong in launch 2: the kernel keeps state"));
}

TEST_F(OwnArguments, AnOutputThatIsNotWhatTheFamilySaysIsWrong) {
  const std::string folder = changed([](json& family) { family["outputs"][0]["is"] = "row_max"; });
  const json report = emulate(folder, ExitCode::failed_outcomes);
  for (const json& config : report["configs"]) {
    EXPECT_EQ(config["outcome"], "wrong_result");
    EXPECT_EQ(config["output"], "row_sum");
    EXPECT_THAT(config["detail"].get<std::string>(), HasSubstr("row_sum: greatest error"));
  }
}

TEST_F(OwnArguments, AnOutputThatNobodyKnowsIsNotCompared) {
  const std::string folder =
      changed([](json& family) { family["outputs"][0]["is"] = "unchecked"; });
  const json report = emulate(folder);
  for (const json& config : report["configs"]) {
    EXPECT_EQ(config["outcome"], "right") << config.dump(2);
  }
}

TEST_F(OwnArguments, ASweepWithoutAGpuVerifiesThem) {
  const json report = fatune_json(
      {"sweep", "--kernel-dir", kTmaFolder, "--seq", "100", "--dtype", "bf16", "--format", "json"});
  const json& ranking = report["problems"][0]["ranking"];
  ASSERT_EQ(ranking.size(), 4U) << report["problems"][0].dump(2);
  for (const json& entry : ranking) {
    EXPECT_EQ(entry["verified"], "emulated");
  }
}

TEST_F(OwnArguments, AGpuIsLaunchedWithThem) {
  use_fake_gpu();
  const json report = fatune_json({"run", "--kernel-dir", kTmaFolder, "--seq", "40", "--config",
                                   "(BF16, 64, 16): dynamic", "--batch", "1", "--heads", "1",
                                   "--repeats", "3", "--format", "json"});
  EXPECT_EQ(report["problems"][0]["ranking"].size(), 1U) << report["problems"][0].dump(2);
  const ProcessResult result = fatune({"run", "--kernel-dir", kTmaFolder, "--seq", "40", "--config",
                                       "(BF16, 64, 16): dynamic", "--batch", "1", "--heads", "1",
                                       "--repeats", "3", "--no-db"});
  expect_ok(result);
  EXPECT_THAT(result.err, HasSubstr("workspace next_tile is filled before each launch, outside "
                                    "the timed part"));
}

TEST_F(OwnArguments, AMapThatAGpuRefusesMakesItUnlaunchable) {
  use_fake_gpu();
  const std::string folder = changed([](json& family) {
    family["arguments"][1]["tensor_map"]["strides_bytes"][0] = "d_head * 2 + 8";
  });
  const json report =
      fatune_json({"run", "--kernel-dir", folder, "--seq", "100", "--config",
                   "(BF16, 64, 16):", "--batch", "1", "--heads", "2", "--format", "json"},
                  ExitCode::nothing_ranked);
  const json& failure = report["problems"][0]["failures"][0];
  EXPECT_EQ(failure["outcome"], "unlaunchable") << failure.dump(2);
  EXPECT_THAT(failure.dump(), HasSubstr("cuTensorMapEncodeTiled of v"));
  EXPECT_THAT(failure.dump(), HasSubstr("strides 136, 256"));
}

TEST_F(OwnArguments, AMapThatIsRefusedIsNamedWithItsFigures) {
  const std::string folder = changed([](json& family) {
    family["arguments"][1]["tensor_map"]["strides_bytes"][0] = "d_head * 2 + 8";
  });
  const json report = emulate(folder, ExitCode::nothing_ranked);
  EXPECT_EQ(report["configs"][0]["outcome"], "not_covered");
  EXPECT_THAT(report["configs"][0]["detail"].get<std::string>(),
              HasSubstr("a tensor map of v: it is refused"));
}

TEST_F(OwnArguments, ArgumentsThatTheKernelDoesNotTakeAreNamed) {
  const std::string folder = changed([](json& family) {
    family["arguments"][3] = {{"double", "-inf"}};
  });
  const json report =
      fatune_json({"compile", "--kernel-dir", folder, "--dtype", "fp16", "--format", "json"},
                  ExitCode::nothing_ranked);
  EXPECT_THAT(report.dump(), HasSubstr("family.json: /arguments/3: the kernel takes"));
}

TEST_F(OwnArguments, ProblemsThatTheKernelCannotDoAreNotTried) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"--seq-kv", "100"}, "same-lengths: its causal mask begins at the first key: 77 queries"},
      {{"--kv-heads", "1"}, "no-groups"},
      {{"--dhead-v", "32"}, "one-head-dimension"},
      {{"--window", "5"}, "no-window"},
      {{"--layout", "bhsd"}, "bshd"},
      {{"--lse"}, "no-log-sum-exp"}};
  for (const auto& [options, rule] : cases) {
    std::vector<std::string> arguments{"emulate", "--kernel-dir", kTmaFolder, "--seq",
                                       "77",      "--format",     "json"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const json report = fatune_json(arguments, ExitCode::nothing_ranked);
    for (const json& config : report["configs"]) {
      EXPECT_EQ(config["outcome"], "invalid") << config.dump(2);
      EXPECT_THAT(config["detail"].get<std::string>(), ::testing::StartsWith(rule));
    }
  }
}

TEST_F(OwnArguments, ACounterThatIsNotThereIsAnError) {
  const std::string folder = changed([](json& family) { family.erase("workspace"); });
  expect_error(fatune({"list", "--kernel-dir", folder}), ExitCode::bad_file,
               {"/arguments/4/tensor", "no tensor 'next_tile'", "row_sum"});
}

}  // namespace
}  // namespace fatune::testing_cli
