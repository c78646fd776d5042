// Tests `fatune debug` on the emulated Hopper kernel: every step is right, and a mistake is named.
#include <filesystem>
#include <fstream>

#include "cli/program.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

struct Shown {
  const char* name;
  const char* config;
  std::vector<std::string> problem;
};

class DebugHopper : public ProgramTest, public testing::WithParamInterface<Shown> {
 protected:
  json shown(std::vector<std::string> arguments, ExitCode expected) {
    arguments.insert(arguments.begin(), "debug");
    arguments.insert(arguments.end(), {"--format", "json"});
    return fatune_json(arguments, expected);
  }
};

TEST_P(DebugHopper, EveryStepIsRight) {
  std::vector<std::string> arguments{"--family", "flash_sm90", "--config", GetParam().config};
  arguments.insert(arguments.end(), GetParam().problem.begin(), GetParam().problem.end());
  const json report = shown(arguments, ExitCode::ok);
  EXPECT_EQ(report["verdict"], "right");
  EXPECT_EQ(report["query_rows"], 64);
  EXPECT_GT(report["checks"].size(), 5U);
  for (const json& check : report["checks"]) {
    EXPECT_EQ(check["verdict"], "right") << check;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, DebugHopper,
    testing::Values(
        Shown{"Ws", "(ws, FP16, 64, 64, 32, 2, 4, 1): slots_1+cluster_1", {"--seq", "128"}},
        Shown{"Overlap",
              "(ws, BF16, 64, 128, 96, 1, 8, 2): overlap+lazy+slots_1+cluster_1+persistent+short",
              {"--seq", "300", "--causal", "--init", "large_logits"}},
        Shown{"Turns",
              "(ws_pp, FP16, 64, 128, 64, 3, 8, 2): lazy+slots_2+cluster_2+persistent",
              {"--seq", "300", "--causal"}},
        Shown{"ThreeConsumers",
              "(ws_pp, FP16, 64, 192, 128, 2, 12, 3): overlap+lazy+slots_2+cluster_1+persistent+"
              "dynamic+split",
              {"--seq", "333", "--causal"}},
        Shown{"Cluster",
              "(ws_pp, BF16, 128, 128, 48, 2, 8, 2): overlap+slots_1+cluster_2+persistent",
              {"--seq", "200", "--init", "range"}},
        Shown{"MoreKeysThanQueries",
              "(ws, BF16, 64, 128, 96, 1, 8, 2): overlap+lazy+slots_1+cluster_1+persistent+short",
              {"--seq", "70", "--seq-kv", "165", "--causal"}},
        Shown{"RowsThatFillNoPanel",
              "(ws, FP16, 72, 64, 32, 2, 4, 1): overlap+slots_1+cluster_1",
              {"--seq", "100"}},
        Shown{"ShorterRowsOfV",
              "(ws, BF16, 192, 128, 48, 2, 8, 2): overlap+lazy+slots_1+cluster_2+persistent",
              {"--seq", "100", "--causal"}},
        Shown{"RowsOfNoConsumer",
              "(ws, FP16, 128, 192, 80, 2, 12, 3): overlap+lazy+slots_2+cluster_2+persistent",
              {"--seq", "70"}}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(DebugHopper, KeysPastTheEndAreNamedAsTheMasks) {
  const json report =
      shown({"--kernel-dir", FATUNE_SOURCE_DIR "/tests/families/broken_hopper", "--config",
             "(ws_pp, FP16, 128, 128, 32, 2, 8, 2, tail_mask): overlap+slots_1+cluster_1", "--seq",
             "150"},
            ExitCode::failed_outcomes);
  EXPECT_EQ(report["first_wrong"]["tensor"], "S");
  EXPECT_EQ(report["first_wrong"]["step"], 0);
  EXPECT_EQ(report["first_wrong"]["column"], 150);
  EXPECT_THAT(report["likely_cause"].get<std::string>(), HasSubstr("the mask"));
}

/// A kernel that is not debugged writes O by TMA and has no stores of its own.
TEST_F(DebugHopper, NothingOfItIsLeftInOtherKernels) {
  expect_ok(fatune({"compile", "--family", "flash_sm90", "--arch", "sm_90a", "--out", path("code"),
                    "--ptx", "--config", "(ws, FP16, 64, 64, 32, 2, 4, 1): slots_1+cluster_1"}));
  int read = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path("code"))) {
    if (entry.path().extension() == ".ptx") {
      const std::string ptx = this->read("code/" + entry.path().filename().string());
      EXPECT_THAT(ptx, HasSubstr("wgmma.mma_async"));
      EXPECT_THAT(ptx, Not(HasSubstr("st.global")));
      ++read;
    }
  }
  EXPECT_EQ(read, 1);
}

}  // namespace
}  // namespace fatune::testing_cli
