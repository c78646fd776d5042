// Tests problems with capped scores and attention sinks through the program.
#include "cli/emulated_family.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kUnoptimised = "(FP16, 64, 64, 64, 4): async+eager+swizzled+load_2_2_2_tiles";
constexpr const char* kOptimised =
    "(BF16, 64, 64, 32, 4): async+eager+swizzled+load_0_2_2_tiles+buffer+opt_softmax";

class SoftcapAndSinks : public EmulatedFamily {
 protected:
  SoftcapAndSinks() : EmulatedFamily("flash_sm80") {}

  ProcessResult run_with(const std::string& options, const std::string& family = "flash_sm80") {
    return fatune(with({"sweep", "--device", "none", "--no-emulate", "--no-db", "--space",
                        kFewSpace, "--family", family},
                       "--seq 64 --heads 2 --batch 1 --dhead 64 --dtype fp16 " + options));
  }
};

// Scores that are scaled first, and in the exponent; rows without keys; several query heads of a
// head of keys.
TEST_F(SoftcapAndSinks, AreRightInTheAmpereKernel) {
  for (const char* problem : {"--seq 150 --heads 8 --kv-heads 2 --batch 1 --causal --sinks --lse",
                              "--seq 200 --seq-kv 90 --heads 8 --batch 1 --causal --sinks --lse",
                              "--seq 130 --heads 2 --batch 1 --softcap 20 --lse",
                              "--seq 100 --seq-kv 140 --heads 8 --batch 2 --window 60 --softcap 5 "
                              "--sinks --layout bhsd"}) {
    SCOPED_TRACE(problem);
    expect_right({kUnoptimised, kOptimised}, words(problem));
  }
}

TEST_F(SoftcapAndSinks, AreInEveryOutput) {
  const ProcessResult result = run_with("--softcap 30 --sinks --format json");
  expect_ok(result);
  expect_schema(result.out, "results");
  const json problem = json::parse(result.out)["problems"][0]["problem"];
  EXPECT_EQ(problem["softcap"], 30.0);
  EXPECT_EQ(problem["sinks"], true);
  EXPECT_THAT(run_with("--softcap 30 --sinks").out, HasSubstr("cap30 sinks"));
}

TEST_F(SoftcapAndSinks, AreRefusedOutOfRange) {
  for (const char* softcap : {"-1", "1e-9", "1e9", "nan"}) {
    const ProcessResult result = run_with(std::string("--softcap ") + softcap);
    EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::usage)) << softcap;
    EXPECT_THAT(result.err, HasSubstr("softcap")) << softcap;
  }
}

// On the fake GPU, whose emulator runs the references too.
TEST_F(SoftcapAndSinks, AreMeasuredAndReused) {
  use_fake_gpu();
  const std::vector<std::string> run =
      with({"run", "--config", kUnoptimised, "--db", path("runs.db"), "--repeats", "3"},
           "--seq 70 --heads 8 --kv-heads 2 --batch 1 --causal --lse --sinks --softcap 15");
  const ProcessResult first = fatune(with(run, "--format json"));
  expect_ok(first);
  const json row = json::parse(first.out)["problems"][0]["ranking"][0];
  EXPECT_EQ(row["reused"], false);
  EXPECT_EQ(fatune_json(with(run, "--reuse --format json"))["problems"][0]["ranking"][0]["reused"],
            true);
}

// The kernel of this family lists its arguments, and has neither.
TEST_F(SoftcapAndSinks, AreRefusedByKernelsThatAreNotToldOfThem) {
  const std::string family = std::string(FATUNE_SOURCE_DIR) + "/tests/families/tma_toy";
  for (const auto& [option, rule] : {std::pair{"--softcap 30", "capped-scores: tma_toy takes no"},
                                     std::pair{"--sinks", "sinks-of-heads: tma_toy takes no"}}) {
    const ProcessResult result = fatune(
        with({"emulate", "--kernel-dir", family}, std::string("--seq 64 --heads 1 ") + option));
    EXPECT_THAT(result.out, HasSubstr(rule)) << option;
  }
}

}  // namespace
}  // namespace fatune::testing_cli
