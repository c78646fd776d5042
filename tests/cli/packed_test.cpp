// Tests --seq-lens: packed batches, whose sequences have different numbers of queries.
#include "cli/emulated_family.hpp"
#include "cli/program.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const std::string kPackedConfig =
    "(ws, FP16, 64, 128, 64, 2, 8, 2): overlap+lazy+slots_2+cluster_1+persistent+dynamic";

class Packed : public ProgramTest {
 protected:
  ProcessResult emulate(const std::string& problem) {
    return fatune(with({"emulate", "--config", kPackedConfig}, problem));
  }

  /// Measures the configuration on the fake GPU.
  std::vector<std::string> run_of(const std::string& problem) {
    return with({"run", "--config", kPackedConfig, "--repeats", "2", "--warmup", "0", "-q"},
                "--heads 2 --kv-heads 1 " + problem);
  }
};

TEST_F(Packed, LengthsThatAreImpossibleAreRefused) {
  const auto refused = [&](const std::string& problem, const std::vector<std::string>& parts) {
    expect_error(emulate(problem), ExitCode::usage, parts);
  };
  refused("--seq-lens 4,-1", {"--seq-lens", "'-1' is not an integer from 0"});
  refused("--seq-lens 4,9 --seq 8", {"the greatest of the lengths is 9, and not 8", "--seq"});
  refused("--seq-lens 4,9 --batch 3", {"2 lengths of queries for a batch of 3"});
  refused("--seq-lens 4,9 --layout bhsd", {"a packed batch has no layout bhsd"});
  refused("--seq-lens 4,9 --seq-kv 20", {"as many keys as queries"});
  refused("--seq-lens 0,0", {"0 queries together"});
}

TEST_F(Packed, KernelsThatDoNotTakeThemSayWhy) {
  const ProcessResult emulated =
      fatune({"emulate", "--config", "(FP16, 64, 8, 64, 2, 1): parts_256", "--seq-lens", "20,3"});
  EXPECT_EQ(emulated.exit_code, static_cast<int>(ExitCode::nothing_ranked));
  EXPECT_THAT(emulated.out, HasSubstr("packed-batches"));
  EXPECT_THAT(emulated.out, HasSubstr("takes no packed batches"));
}

TEST_F(Packed, SchedulesThatNeedLengthsAreRefused) {
  const std::string tile = "(ws, FP16, 64, 64, 32, 2, 4, 1): ";
  for (const auto& [flags, rule] :
       {std::pair{"slots_1+cluster_2+persistent", "unknown-tiles-alone"},
        std::pair{"slots_1+cluster_1+persistent+split", "unknown-tiles-stay-whole"}}) {
    const ProcessResult emulated =
        fatune({"emulate", "--config", tile + flags, "--seq-lens", "20,3"});
    EXPECT_EQ(emulated.exit_code, static_cast<int>(ExitCode::nothing_ranked));
    EXPECT_THAT(emulated.out, HasSubstr(rule));
  }
}

TEST_F(Packed, AreInEveryOutput) {
  const ProcessResult result =
      fatune(with({"sweep", "--device", "none", "--no-emulate", "--no-db", "--format", "json"},
                  "--dhead 64 --dtype fp16 --heads 2 --batch 3 --seq-lens uniform:1-300 --causal "
                  "--space hopper_ci --family flash_sm90"));
  expect_ok(result);
  expect_schema(result.out, "results");
  const json report = json::parse(result.out);
  ASSERT_EQ(report["problems"].size(), 1U);
  const json problem = report["problems"][0]["problem"];
  EXPECT_EQ(problem["seq_lens"], "uniform:1-300:0");
  EXPECT_EQ(problem["seq_len"], 300);
  EXPECT_EQ(problem["seq_len_kv"], 300);
}

// By the rows of sequences that all have as many queries and keys as these in the mean.
TEST_F(Packed, AreChosenForAsEqualSequencesAre) {
  const auto prediction = [this](const std::string& lengths) {
    return fatune_json(with({"predict", "--gpu", "h100", "--dhead", "128", "--dtype", "bf16",
                             "--causal", "--heads", "16", "--format", "json"},
                            lengths))["predictions"][0];
  };
  const json equal = prediction("--seq 2048 --batch 16");
  const json packed =
      prediction("--seq-lens 0,4096,96,4000,0,4096,96,4000,0,4096,96,4000,0,4096,96,4000");
  EXPECT_EQ(equal["step"], "exact");
  EXPECT_EQ(packed["step"], "same bucket");
  EXPECT_EQ(packed["config"], equal["config"]);
  EXPECT_TRUE(packed["untuned"].is_null());
  EXPECT_TRUE(packed["expected_regret_percent"].is_null());
}

// On the fake GPU, whose emulator runs the references too.
TEST_F(Packed, AreMeasuredStoredAndReused) {
  use_fake_gpu();
  const std::vector<std::string> run =
      run_of("--lse --causal --seq-lens 70,0,1,33 --seq-kv-lens 90,4,0,33");
  const ProcessResult first = fatune(with(run, "--format csv"));
  expect_ok(first);
  EXPECT_THAT(first.out, HasSubstr("\"70,0,1,33\""));
  EXPECT_THAT(first.out, HasSubstr("measured"));
  EXPECT_EQ(fatune({"show", "last", "--format", "csv"}).out, first.out);
  const json again = fatune_json(with(run, "--reuse --format json"));
  EXPECT_EQ(again["problems"][0]["ranking"][0]["reused"], true);
  const json other =
      fatune_json(with(run_of("--lse --causal --seq-lens 70,1,0,33 --seq-kv-lens 90,4,0,33"),
                       "--reuse --format json"));
  EXPECT_EQ(other["problems"][0]["ranking"][0]["reused"], false);
}

}  // namespace
}  // namespace fatune::testing_cli
