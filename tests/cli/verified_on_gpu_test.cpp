// Tests the findings of verification on a GPU. The fake driver runs kernels, references and
// comparisons on the emulator.
#include <set>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class VerifiedOnGpu : public ProgramTest {
 protected:
  VerifiedOnGpu() { use_fake_gpu(); }

  static std::vector<std::string> on_one_head(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--batch", "1", "--heads", "1", "--format", "json"});
    return arguments;
  }
};

TEST_F(VerifiedOnGpu, ASweepRanksWhatIsRightByInputsAndErrors) {
  const json report = fatune_json(
      on_one_head({"sweep", "--kernel-dir", kToyFolder, "--seq", "48", "--dtype", "fp16"}));
  const json& ranking = report["problems"][0]["ranking"];
  ASSERT_EQ(ranking.size(), 3U) << report["problems"][0].dump(2);
  for (const json& entry : ranking) {
    for (const json& input : entry["verification"]["inputs"]) {
      EXPECT_GT(input["max_abs_error"], 0.0) << "rounded to 16 bits: " << input;
      EXPECT_LT(input["max_abs_error"], input["limit"]) << input;
    }
  }
}

TEST_F(VerifiedOnGpu, ASweepRefusesARowThatIsNeverWritten) {
  const std::string toy = toy_family_with("if (row == 5) return;");
  const json report =
      fatune_json(on_one_head({"sweep", "--kernel-dir", toy, "--seq", "48", "--dtype", "fp16"}),
                  ExitCode::nothing_ranked);
  const json& failures = report["problems"][0]["failures"];
  ASSERT_EQ(failures.size(), 3U) << report["problems"][0].dump(2);
  for (const json& failure : failures) {
    EXPECT_EQ(failure["outcome"], "wrong_result") << failure;
    EXPECT_THAT(failure["detail"].get<std::string>(),
                HasSubstr("128 output values are NaN, infinite or were never written"));
  }
}

TEST_F(VerifiedOnGpu, ASweepEndsWithTheCrashOfAStrayAccess) {
  const std::string toy =
      toy_family_with("static_cast<unsigned short*>(args.o)[(1ll << 30) + row] = 0;");
  const json report = fatune_json(on_one_head({"run", "--kernel-dir", toy, "--seq", "48",
                                               "--config", "(FP16, 64, 32): unroll_1"}),
                                  ExitCode::nothing_ranked);
  const json& failure = report["problems"][0]["failures"][0];
  EXPECT_EQ(failure["outcome"], "crashed") << failure;
  EXPECT_THAT(failure["detail"].get<std::string>(), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
}

TEST_F(VerifiedOnGpu, AHopperKernelWithTensorMapsAndClustersIsRight) {
  const json report = fatune_json(on_one_head(
      {"run", "--seq", "128", "--repeats", "3", "--config",
       "(ws, FP16, 64, 128, 128, 2, 8, 2): overlap+lazy+slots_1+cluster_2+persistent"}));
  const json& ranking = report["problems"][0]["ranking"];
  ASSERT_EQ(ranking.size(), 1U) << report["problems"][0].dump(2);
  EXPECT_GT(ranking[0]["verification"]["inputs"][0]["max_abs_error"], 0.0);
}

/// Checks the outcome of each mistake of broken_flash, with the figures of the finding.
TEST_F(VerifiedOnGpu, ACheckFindsEveryMistakeAndItsFigures) {
  const json report = fatune_json(
      on_one_head({"check", "--kernel-dir", FATUNE_SOURCE_DIR "/tests/families/broken_flash",
                   "--space", "one_each", "--seq", "128", "--causal"}),
      ExitCode::failed_outcomes);
  std::set<std::string> wrong;  // two kinds of input reveal each mistake
  for (const json& check : report["checks"]) {
    if (check["config"].get<std::string>().find(", none)") != std::string::npos) {
      EXPECT_EQ(check["outcome"], "right") << check;
      EXPECT_LT(check["max_abs_error"], check["limit"]) << check;
    } else if (check["outcome"] == "wrong_result") {
      wrong.insert(check["config"]);
      EXPECT_THAT(check["detail"].get<std::string>(), HasSubstr("greatest error")) << check;
      EXPECT_GT(check["max_abs_error"], check["limit"]) << check;
      EXPECT_GT(check["mismatched"], 0) << check;
    }
  }
  EXPECT_EQ(wrong.size(), 6U) << report.dump(2);
}

/// The kinds of input on which a right kernel was compared, in order.
std::vector<std::string> kinds_of_input(const json& report) {
  std::vector<std::string> kinds;
  for (const json& check : report["checks"]) {
    EXPECT_EQ(check["outcome"], "right") << check;
    kinds.push_back(check["input"]);
  }
  return kinds;
}

TEST_F(VerifiedOnGpu, InputsHaveTheNamesThatTheyHaveInTheEmulator) {
  const auto check = on_one_head(
      {"check", "--kernel-dir", kToyFolder, "--seq", "40", "--config", "(FP16, 64, 32): unroll_1"});
  auto emulated = check;
  emulated.insert(emulated.end(), {"--device", "none"});
  EXPECT_THAT(kinds_of_input(fatune_json(check)),
              testing::UnorderedElementsAreArray(kinds_of_input(fatune_json(emulated))));
}

TEST_F(VerifiedOnGpu, AKernelThatTheFakeCannotRunIsNotTakenForARightOne) {
  process_.environment.erase("FATUNE_NVRTC");
  const ProcessResult result =
      fatune(on_one_head({"check", "--kernel-dir", kToyFolder, "--seq", "40", "--config",
                          "(FP16, 64, 32): unroll_1", "--cache-dir", path("cache")}));
  expect_error(result, ExitCode::gpu_failure, {"CUDA_ERROR_NOT_SUPPORTED", "its PTX is unknown"});
}

}  // namespace
}  // namespace fatune::testing_cli
