// Tests several GPUs of the fake driver, each with its own worker.
#include "cli/program.hpp"

#include <filesystem>
#include <set>
#include <sstream>

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class SeveralGpus : public ProgramTest {
 protected:
  SeveralGpus() {
    use_gpu_that_never_runs_kernels();
    process_.environment["FATUNE_FAKE_DEVICES"] = "2";
  }
  static std::vector<std::string> run_on(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{
        "run", "--config", kConfig,           "--batch",   "1", "--heads",
        "1",   "--seq",    "128,256,384,512", "--repeats", "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  static std::vector<std::string> uuids(const json& report) {
    std::vector<std::string> uuids;
    for (const json& problem : report["problems"]) {
      uuids.push_back(problem["device_uuid"]);
    }
    return uuids;
  }
};

TEST_F(SeveralGpus, ShareTheProblemsWhoseOrderStays) {
  const ProcessResult result = fatune(run_on({"--devices", "all", "--format", "json"}));
  expect_ok(result);
  expect_schema(result.out, "results");
  const json report = json::parse(result.out);
  EXPECT_EQ(report["gpus_used"], 2);
  ASSERT_EQ(report["problems"].size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(report["problems"][i]["problem"]["seq_len"], 128 * (i + 1));
    EXPECT_EQ(report["problems"][i]["ranking"].size(), 1U);
  }
  const auto used = uuids(report);
  EXPECT_EQ(std::set(used.begin(), used.end()).size(), 2U);
  EXPECT_THAT(used, testing::Each(testing::StartsWith("GPU-00010203")));
  EXPECT_EQ(fatune_json(run_on({"--devices", "1,0", "--format", "json"}))["gpus_used"], 2);
}

TEST_F(SeveralGpus, OneIsUsedUnlessMoreAreAskedFor) {
  const json report = fatune_json(run_on({"--format", "json"}));
  EXPECT_EQ(report["gpus_used"], 1);
  const json second = fatune_json(run_on({"--devices", "1", "--format", "json"}));
  EXPECT_EQ(second["gpus_used"], 1);
  EXPECT_NE(uuids(report)[0], uuids(second)[0]);
}

TEST_F(SeveralGpus, WhatEachMeasuredIsStored) {
  expect_ok(fatune(run_on({"--devices", "all"})));
  const json runs = fatune_json({"history", "--format", "json"})["runs"];
  std::int64_t problems = 0;
  for (const json& run : runs) {
    EXPECT_EQ(run["complete"], true);
    problems += run["problems"].get<std::int64_t>();
  }
  EXPECT_EQ(runs.size(), 2U);
  EXPECT_EQ(problems, 4);
}

TEST_F(SeveralGpus, OfSeveralModelsHaveRankingsOfTheirOwn) {
  process_.environment["FATUNE_FAKE_NAMES"] = "Fake A100,Fake H200";
  const ProcessResult result = fatune(run_on({"--devices", "all", "--out", path("out")}));
  expect_ok(result);
  EXPECT_THAT(result.out, testing::AllOf(HasSubstr("Fake A100 ("), HasSubstr("Fake H200 (")));
  for (const std::string model : {"fake-a100", "fake-h200"}) {
    const std::string text = read("out/" + model + "/results.json");
    expect_schema(text, "results");
    const json report = json::parse(text);
    EXPECT_EQ(report["problems"].size(), 4U);
    EXPECT_EQ(report["gpus_used"], 1);
    EXPECT_EQ(report["device"]["name"], model == "fake-a100" ? "Fake A100" : "Fake H200");
    EXPECT_TRUE(std::filesystem::exists(path("out/" + model + "/best_configs.json")));
  }
  EXPECT_FALSE(std::filesystem::exists(path("out/results.json")));
}

TEST_F(SeveralGpus, OfSeveralModelsAreOneJsonDocument) {
  process_.environment["FATUNE_FAKE_NAMES"] = "Fake A100,Fake H200";
  const ProcessResult result = fatune(run_on({"--devices", "all", "--format", "json"}));
  expect_ok(result);
  expect_schema(result.out, "runs");
  const json runs = json::parse(result.out)["runs"];
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0]["device"]["name"], "Fake A100");
  EXPECT_EQ(runs[1]["device"]["name"], "Fake H200");
  for (const json& run : runs) {
    expect_schema(run.dump(), "results");
    EXPECT_EQ(run["problems"].size(), 4U);
  }
}

TEST_F(SeveralGpus, OfSeveralModelsAreOneCsvWithADeviceColumn) {
  process_.environment["FATUNE_FAKE_NAMES"] = "Fake A100,Fake H200";
  const ProcessResult result = fatune(run_on({"--devices", "all", "--format", "csv"}));
  expect_ok(result);
  std::istringstream stream(result.out);
  std::string line;
  std::getline(stream, line);
  EXPECT_THAT(line, testing::AllOf(testing::StartsWith("dtype,batch"), HasSubstr(",device,")));
  int of_a100 = 0;
  int of_h200 = 0;
  while (std::getline(stream, line)) {
    EXPECT_THAT(line, testing::StartsWith("FP16,1,")) << "one heading";
    of_a100 += line.find(",Fake A100,") != std::string::npos ? 1 : 0;
    of_h200 += line.find(",Fake H200,") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(of_a100, 4);
  EXPECT_EQ(of_h200, 4);
}

// Measurements before an error are kept: the files of the second model cannot be written.
TEST_F(SeveralGpus, AnErrorOnTheSecondModelKeepsTheFirstOnesReport) {
  process_.environment["FATUNE_FAKE_NAMES"] = "Fake A100,Fake H200";
  std::filesystem::create_directories(path("out"));
  write("out/fake-h200", "a file where the folder should be");
  const ProcessResult result =
      fatune(run_on({"--devices", "all", "--format", "json", "--out", path("out")}));
  EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::io)) << result.err;
  const json runs = json::parse(result.out)["runs"];
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0]["device"]["name"], "Fake A100");
}

TEST_F(SeveralGpus, OfSeveralModelsHaveNoCommonBest) {
  process_.environment["FATUNE_FAKE_NAMES"] = "Fake A100,Fake H200";
  expect_error(fatune(run_on({"--devices", "all", "--best", path("best.json")})), ExitCode::usage,
               {"--best", "several models", "--out"});
}

TEST_F(SeveralGpus, OnesThatAreNotThereAreNamed) {
  expect_error(fatune(run_on({"--devices", "0,5"})), ExitCode::usage, {"5"});
  expect_error(fatune(run_on({"--devices", ""})), ExitCode::usage, {"--devices"});
  expect_error(fatune(run_on({"--devices", "0", "--device", "1"})), ExitCode::usage, {"--device"});
}

}  // namespace
}  // namespace fatune::testing_cli
