// Tests --seq-kv-lens: numbers of keys that differ within the batch.
#include "cli/decode_arguments.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class KeyLengths : public DecodeArguments {
 protected:
  ProcessResult emulate(const std::string& problem) {
    return fatune(with({"emulate", "--family", "flash_decode"}, problem));
  }
};

TEST_F(KeyLengths, AKernelThatIgnoresThemIsFound) {
  const json wrong = emulate_changed("--seq-kv-lens 100,0,1,65", [](json& member) {
    if (member["name"] == "seq_lens_kv") {
      member["when"] = member.contains("uint64") ? "1" : "0";
    }
  });
  EXPECT_EQ(wrong["outcome"], "wrong_result");
  EXPECT_THAT(std::string(wrong["detail"]), HasSubstr("NaN"));
}

TEST_F(KeyLengths, AKernelThatReadsAnotherSequencesIsFound) {
  const json wrong = emulate_changed("--seq-kv-lens 100,0,1,65", [](json& member) {
    if (member.contains("tensor") && member["tensor"] == "seq_lens_kv") {
      member["offset_bytes"] = "4";
    }
  });
  EXPECT_EQ(wrong["outcome"], "flagged") << "it also reads behind the last length";
  EXPECT_THAT(std::string(wrong["detail"]), HasSubstr("seq_lens_kv"));
}

TEST_F(KeyLengths, AreReadFromAFile) {
  write("lengths.txt", "100\n0\t1,\n 65\n");
  const ProcessResult result = emulate(
      "--dhead 64 --dtype fp16 --schedules 1 "
      "--space ci --seq 1 --heads 1 --format csv --seq-kv-lens " +
      path("lengths.txt"));
  expect_ok(result);
  EXPECT_THAT(result.out, HasSubstr("kv100 lens 100,0,1,65"));
}

TEST_F(KeyLengths, ThatAreImpossibleAreRefused) {
  const auto refused = [&](const std::string& problem, const std::vector<std::string>& parts) {
    expect_error(emulate("--seq 1 " + problem), ExitCode::usage, parts);
  };
  refused("--seq-kv-lens 4,-1", {"--seq-kv-lens", "'-1' is not an integer from 0"});
  refused("--seq-kv-lens 4,,1", {"--seq-kv-lens", "''"});
  refused("--seq-kv-lens uniform:9-8", {"--seq-kv-lens", "9 is greater than 8"});
  refused("--seq-kv-lens zipf:1-8:x", {"--seq-kv-lens", "'x'"});
  refused("--seq-kv-lens normal:1-8",
          {"'normal:1-8' is no file, and no lengths of keys", "uniform:LOW-HIGH[:SEED]"});
  refused("--seq-kv-lens " + path("missing.txt"), {"missing.txt' is no file"});
  refused("--batch 3 --seq-kv-lens 4,5", {"2 lengths of keys for a batch of 3"});
  refused("--seq-kv 8 --seq-kv-lens 4,9", {"allows 9 keys, but K and V have room for 8"});
  write("words.txt", "4 five");
  refused("--seq-kv-lens " + path("words.txt"), {"'five' is not an integer"});
}

TEST_F(KeyLengths, FamiliesThatDoNotTakeThemSayWhy) {
  const ProcessResult emulated =
      fatune({"emulate", "--config", kConfig, "--seq", "2", "--seq-kv-lens", "20,0"});
  EXPECT_EQ(emulated.exit_code, static_cast<int>(ExitCode::nothing_ranked));
  EXPECT_THAT(emulated.out,
              HasSubstr("lengths-of-keys: flash_sm80 takes no lengths of keys that differ"));
}

TEST_F(KeyLengths, LeaveTilesWholeAndBlocksAlone) {
  for (const auto& [flags, rule] :
       {std::pair{"slots_1+cluster_2+persistent", "unknown-tiles-alone"},
        std::pair{"slots_1+cluster_1+persistent+split", "unknown-tiles-stay-whole"}}) {
    const ProcessResult emulated =
        fatune({"emulate", "--config", std::string("(ws, FP16, 64, 64, 32, 2, 4, 1): ") + flags,
                "--seq", "20", "--seq-kv-lens", "20,3"});
    EXPECT_EQ(emulated.exit_code, static_cast<int>(ExitCode::nothing_ranked));
    EXPECT_THAT(emulated.out, HasSubstr(rule));
  }
}

TEST_F(KeyLengths, LeaveOutTheFamiliesThatDoNotTakeThem) {
  const ProcessResult result =
      fatune(with({"sweep", "--device", "none", "--no-emulate", "--no-db", "--format", "json"},
                  "--seq 1 --dhead 64 --dtype fp16 --seq-kv-lens zipf:1-300 --batch 4"));
  expect_ok(result);
  EXPECT_THAT(result.err, AllOf(HasSubstr("flash_sm80 is left out: it takes no lengths of keys"),
                                Not(HasSubstr("flash_sm90 is left out")),
                                Not(HasSubstr("flash_decode is left out"))));
  expect_schema(result.out, "results");
  const json report = json::parse(result.out);
  EXPECT_EQ(report["family"], "flash_decode+flash_decode_sm80+flash_sm90");
  const json problem = report["problems"][0]["problem"];
  EXPECT_EQ(problem["seq_lens_kv"], "zipf:1-300:1:0");
  EXPECT_EQ(problem["seq_len_kv"], 300);
}

// On the fake GPU, whose emulator runs the references too.
TEST_F(KeyLengths, AreMeasuredStoredAndReused) {
  use_fake_gpu();
  const std::vector<std::string> run = run_of("--lse --causal --seq-kv-lens 100,0,1,65");
  const ProcessResult first = fatune(with(run, "--format csv"));
  expect_ok(first);
  EXPECT_THAT(first.out, HasSubstr("\"100,0,1,65\""));
  EXPECT_THAT(first.out, HasSubstr("measured"));
  EXPECT_EQ(fatune({"show", "last", "--format", "csv"}).out, first.out);
  const json again = fatune_json(with(run, "--reuse --format json"));
  EXPECT_EQ(again["problems"][0]["ranking"][0]["reused"], true);
}

TEST_F(KeyLengths, OfAnotherBatchAreAnotherProblem) {
  use_gpu_that_never_runs_kernels();
  expect_ok(fatune(run_of("--seq-kv-lens 100,7")));
  const json other = fatune_json(with(run_of("--seq-kv-lens 7,100"), "--reuse --format json"));
  EXPECT_EQ(other["problems"][0]["ranking"][0]["reused"], false);
}

TEST_F(KeyLengths, AreInNoTunedTable) {
  use_gpu_that_never_runs_kernels();
  expect_ok(fatune(with(run_of("--seq-kv-lens uniform:0-100"), "--best " + path("best.json"))));
  const ProcessResult exported =
      fatune({"export", "--to", "json", "--best", path("best.json"), "--out", path("out")});
  EXPECT_NE(exported.exit_code, 0);
  EXPECT_THAT(exported.out + exported.err, HasSubstr("lengths of keys differ within the batch"));
}

TEST_F(KeyLengths, ArePredictedFromTheRowsOfFullSequences) {
  use_gpu_that_never_runs_kernels();
  expect_ok(fatune(with(run_of("--seq-kv 200 --batch 2"), "--best " + path("best.json"))));
  const auto predict = [&](const std::string& lengths) {
    return fatune_json(with({"predict", "--best", path("best.json"), "--format", "json"},
                            "--seq 1 --heads 2 --kv-heads 1 --dhead 64 --dtype fp16 --batch 2 "
                            "--seq-kv 200" +
                                lengths))["predictions"][0];
  };
  EXPECT_EQ(predict("")["step"], "exact");
  const json with_lengths = predict(" --seq-kv-lens 4,5");
  EXPECT_EQ(with_lengths["step"], "predicted");
  EXPECT_EQ(with_lengths["config"], kDecodeConfig);
  EXPECT_EQ(with_lengths["expected_regret_percent"], nullptr);
}

TEST_F(KeyLengths, AreRefusedIfNoTunedConfigurationTakesThem) {
  use_gpu_that_never_runs_kernels();
  expect_ok(fatune({"run", "--config", kConfig, "--repeats", "2", "--warmup", "0", "-q", "--seq",
                    "256", "--best", path("best.json")}));
  const ProcessResult refused =
      fatune({"predict", "--seq", "256", "--seq-kv-lens", "4,5", "--best", path("best.json")});
  EXPECT_EQ(refused.exit_code, static_cast<int>(ExitCode::nothing_ranked));
  EXPECT_THAT(refused.out, HasSubstr("takes no lengths of keys"));
}

TEST_F(KeyLengths, HaveTheFamiliesOfTheTableThatTakeThem) {
  const std::vector<std::string> predict =
      with({"predict", "--format", "json"},
           "--gpu h100 --seq 1 --heads 32 --kv-heads 8 --dtype bf16 --seq-kv 4096 --batch 2 "
           "--seq-kv-lens 4000,5");
  const json chosen = fatune_json(predict)["predictions"][0];
  EXPECT_EQ(chosen["family"], "flash_decode");
  EXPECT_EQ(chosen["step"], "predicted");
  const json prompt = fatune_json({"predict", "--format", "json", "--gpu", "h200", "--seq", "4096",
                                   "--dhead", "128", "--heads", "16", "--dtype", "bf16", "--batch",
                                   "2", "--seq-kv-lens", "4000,5"})["predictions"][0];
  EXPECT_EQ(prompt["family"], "flash_sm90");
}

}  // namespace
}  // namespace fatune::testing_cli
