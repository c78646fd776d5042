// `fatune check`, with the fake driver: its kernels do nothing, and its comparisons find nothing
// wrong.
#include "cli/program.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class CheckCommand : public ProgramTest {
 protected:
  CheckCommand() { use_fake_gpu(); }

  static std::vector<std::string> small_check(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"check", "--small", "--config", kConfig, "-q"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
};

TEST_F(CheckCommand, SaysOfEveryInputAndSeedHowFarItIsFromItsLimit) {
  const ProcessResult result = fatune(small_check({"--seeds", "2", "--format", "json"}));
  expect_ok(result);
  expect_schema(result.out, "check");
  const json checks = json::parse(result.out)["checks"];
  ASSERT_EQ(checks.size(), 6U) << "three inputs, two seeds";
  EXPECT_EQ(checks[0]["problem"], "b1 s512 h1 d128 FP16");
  EXPECT_EQ(checks[0]["seed"], 1);
  EXPECT_EQ(checks[5]["seed"], 2);
  for (const json& check : checks) {
    EXPECT_EQ(check["outcome"], "right");
    EXPECT_GT(check["elements"], 0);
  }
}

TEST_F(CheckCommand, TheFullSizeIsTheDocumentedOne) {
  process_.environment["FATUNE_FAKE_MEMORY_MIB"] = "8192";
  const json report =
      fatune_json({"check", "--config", kConfig, "--heads", "2", "-q", "--format", "json"});
  EXPECT_EQ(report["checks"][0]["problem"], "b16 s2048 h2 d128 FP16");
}

TEST_F(CheckCommand, ATableHasOneLineForEachAndCounts) {
  const ProcessResult result = fatune(small_check());
  expect_ok(result);
  EXPECT_THAT(result.out, HasSubstr("all 1 right"));
}

TEST_F(CheckCommand, WhatIsWrongIsNamedAndFails) {
  process_.environment["FATUNE_WORKER"] = FATUNE_FAKE_WORKER;
  process_.environment["FATUNE_FAKE_WORKER"] =
      json{{"wrong", {{"opt_softmax", "greatest error 3"}}}}.dump();
  const ProcessResult result = fatune(small_check());
  EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::failed_outcomes)) << result.err;
  EXPECT_THAT(result.out, HasSubstr("1 of 1 WRONG"));
  EXPECT_THAT(result.out, HasSubstr("greatest error 3"));
}

TEST_F(CheckCommand, ACrashIsNamedAndFails) {
  process_.environment["FATUNE_FAKE_KERNEL_ERROR"] = "700@name:flash";
  const ProcessResult result = fatune(small_check());
  EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::failed_outcomes)) << result.err;
  EXPECT_THAT(result.out, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
}

TEST_F(CheckCommand, WhatWasNeverComparedIsNotRight) {
  process_.environment["FATUNE_WORKER"] = FATUNE_FAKE_WORKER;  // admits without a comparison
  const ProcessResult result = fatune(small_check());
  EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::failed_outcomes)) << result.err;
  EXPECT_THAT(result.out, HasSubstr("no input was compared"));
}

TEST_F(CheckCommand, NeedsAGpu) {
  expect_error(fatune(small_check({"--device", "none"})), ExitCode::no_gpu, {"a GPU is required"});
}

}  // namespace
}  // namespace fatune::testing_cli
