// Tests --page-size: K and V as pools of pages, which a table names.
#include "cli/decode_arguments.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Pages : public DecodeArguments {};

TEST_F(Pages, AKernelThatTakesTheNextPageIsFound) {
  const json wrong = emulate_changed("--seq-kv-lens 100,0,1,65 --page-size 16", [](json& member) {
    if (member.contains("tensor") && member["tensor"] == "page_table") {
      member["offset_bytes"] = "4";
    }
  });
  EXPECT_NE(wrong["outcome"], "right");
}

TEST_F(Pages, AKernelWithAnotherNumberOfPagesIsFound) {
  const json wrong = emulate_changed("--seq-kv-lens 100,0,1,65 --page-size 16", [](json& member) {
    if (member["name"] == "pages_of_sequence") {
      member["int32"] = "1";
    }
  });
  EXPECT_EQ(wrong["outcome"], "wrong_result");
}

TEST_F(Pages, ThatAreImpossibleAreRefused) {
  const auto refused = [&](const std::string& size, const std::vector<std::string>& parts) {
    expect_error(fatune({"emulate", "--family", "flash_decode", "--seq", "1", "--page-size", size}),
                 ExitCode::usage, parts);
  };
  refused("48", {"page_size is 48", "a power of two from 1 to 256"});
  refused("512", {"--page-size", "256"});
  refused("-1", {"--page-size"});
}

TEST_F(Pages, OfOtherSizesThanStepsAreRefusedByARule) {
  const json list =
      fatune_json({"emulate", "--family", "flash_decode", "--format", "json", "--schedules", "1",
                   "--seq", "40", "--seq-kv", "100", "--heads", "2", "--page-size", "32",
                   "--config", "(BF16, 128, 192, 80, 2, 1): parts_512"},
                  ExitCode::nothing_ranked);
  EXPECT_THAT(list.dump(), HasSubstr("a step has whole pages, or a page whole steps: 80 keys of a "
                                     "step, and 32 of a page"));
}

TEST_F(Pages, FamiliesThatDoNotTakeThemSayWhy) {
  const ProcessResult emulated =
      fatune({"emulate", "--config", kConfig, "--seq", "2", "--page-size", "16"});
  EXPECT_EQ(emulated.exit_code, static_cast<int>(ExitCode::nothing_ranked));
  EXPECT_THAT(emulated.out, HasSubstr("pages-of-keys: flash_sm80 takes no K and V in pages"));
}

TEST_F(Pages, AreReadByBlocksThatShareNoTile) {
  const auto refusal_of = [&](const std::string& flags) {
    return fatune({"emulate", "--config", "(ws, BF16, 64, 128, 96, 2, 8, 2): " + flags, "--seq",
                   "300", "--page-size", "16"})
        .out;
  };
  EXPECT_THAT(refusal_of("slots_1+cluster_2+persistent"), HasSubstr("pages-of-whole-tiles"));
  EXPECT_THAT(refusal_of("overlap+slots_1+cluster_1+persistent+split"),
              HasSubstr("pages-of-whole-tiles"));
}

TEST_F(Pages, LeaveOutTheFamiliesThatDoNotTakeThem) {
  const ProcessResult result =
      fatune(with({"sweep", "--device", "none", "--no-emulate", "--no-db", "--format", "json"},
                  "--space ci --seq 1 --dhead 64 --dtype fp16 --seq-kv 300 --batch 4 "
                  "--page-size 16"));
  expect_ok(result);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("flash_decode_sm80 is left out: it takes no K and V in pages"),
                    Not(HasSubstr("flash_decode is left out"))));
  expect_schema(result.out, "results");
  const json report = json::parse(result.out);
  EXPECT_EQ(report["family"], "flash_decode");
  EXPECT_EQ(report["problems"][0]["problem"]["page_size"], 16);
}

// On the fake GPU, whose emulator runs the references too.
TEST_F(Pages, AreMeasuredStoredAndReused) {
  use_fake_gpu();
  const std::vector<std::string> run =
      run_of("--lse --causal --seq-kv-lens 100,0,1,65 --page-size 8");
  const ProcessResult first = fatune(with(run, "--format csv"));
  expect_ok(first);
  EXPECT_THAT(first.out, HasSubstr("measured"));
  EXPECT_EQ(fatune({"show", "last", "--format", "csv"}).out, first.out);
  const json again = fatune_json(with(run, "--reuse --format json"));
  EXPECT_EQ(again["problems"][0]["problem"]["page_size"], 8);
  EXPECT_EQ(again["problems"][0]["ranking"][0]["reused"], true);
}

TEST_F(Pages, OfAnotherSizeAreAnotherProblem) {
  use_gpu_that_never_runs_kernels();
  expect_ok(fatune(run_of("--seq-kv 100 --page-size 16")));
  for (const char* size : {"0", "32"}) {
    const json other = fatune_json(
        with(run_of(std::string("--seq-kv 100 --page-size ") + size), "--reuse --format json"));
    EXPECT_EQ(other["problems"][0]["ranking"][0]["reused"], false) << size;
  }
}

TEST_F(Pages, AreInNoTunedTable) {
  use_gpu_that_never_runs_kernels();
  expect_ok(fatune(with(run_of("--seq-kv 100 --page-size 16"), "--best " + path("best.json"))));
  const ProcessResult exported =
      fatune({"export", "--to", "json", "--best", path("best.json"), "--out", path("out")});
  EXPECT_NE(exported.exit_code, 0);
  EXPECT_THAT(exported.out + exported.err, HasSubstr("its K and V are in pages"));
}

TEST_F(Pages, AreChosenForAsContiguousKeysAre) {
  const auto predict = [&](const std::string& keys) {
    return fatune_json(with({"predict", "--format", "json"},
                            "--gpu h100 --seq 1 --heads 32 --kv-heads 8 --dhead 128 --dtype bf16 "
                            "--batch 8 --page-size 16 " +
                                keys))["predictions"][0];
  };
  const json prediction = predict("--seq-kv 4096");
  EXPECT_EQ(prediction["step"], "same bucket");
  EXPECT_EQ(prediction["family"], "flash_decode");
  EXPECT_EQ(prediction["tuned_on"], "b8 s1 h32 d128 BF16 kv4096 hkv8");
  const json shorter = predict("--seq-kv-lens uniform:1-4096");
  EXPECT_EQ(shorter["step"], "predicted");
  EXPECT_EQ(shorter["tuned_on_gpu"], "NVIDIA H100 80GB HBM3");
}

}  // namespace
}  // namespace fatune::testing_cli
