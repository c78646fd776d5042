// Tests `fatune verify-winner`, with the fake driver for the GPU's figures and a worker with
// scripted times.
#include "cli/program.hpp"

#include <signal.h>

#include <chrono>
#include <thread>

namespace fatune::testing_cli {
namespace {

using nlohmann::json;

class VerifyWinner : public ProgramTest {
 protected:
  VerifyWinner() {
    use_fake_gpu();
    process_.environment["FATUNE_WORKER"] = FATUNE_FAKE_WORKER;
  }

  void times_are(const json& us_by_label, const json& faults = json::array()) {
    const json script{{"noise_percent", 0.2}, {"us", us_by_label}, {"faults", faults}};
    process_.environment["FATUNE_FAKE_WORKER"] = script.dump();
  }

  void sweep_while_the_128_wide_tile_is_best(const std::string& seq_lens = "256") {
    times_are({{"128, 64, 64, 4", 120.0}, {"128, 128, 64, 4", 100.0}, {"32, 4", 140.0}});
    expect_ok(fatune({"sweep", "--seq", seq_lens, "--dhead", "128", "--dtype", "fp16", "--batch",
                      "1", "--space", FATUNE_SOURCE_DIR "/tests/spaces/four_shapes.json", "--no-db",
                      "-q", "--best", path("best.json")}));
  }

  ProcessResult verify(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"verify-winner", path("best.json"), "--no-db", "-q"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fatune(arguments);
  }
};

TEST_F(VerifyWinner, ConfirmsOneThatIsStillTheFastest) {
  sweep_while_the_128_wide_tile_is_best();
  const ProcessResult result = verify({"--format", "json"});
  expect_ok(result);
  expect_schema(result.out, "verify_winner");
  const json winners = json::parse(result.out)["winners"];
  ASSERT_EQ(winners.size(), 1U);
  EXPECT_EQ(winners[0]["verdict"], "confirmed");
  EXPECT_NEAR(winners[0]["winner_us"], 100.0, 1.0);
}

TEST_F(VerifyWinner, FailsWhenAnotherIsFasterBeyondDoubt) {
  sweep_while_the_128_wide_tile_is_best();
  times_are({{"128, 64, 64, 4", 90.0}, {"128, 128, 64, 4", 100.0}, {"32, 4", 140.0}});
  const ProcessResult result = verify({"--format", "json"});
  EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::beaten)) << result.err;
  const json winner = json::parse(result.out)["winners"][0];
  EXPECT_EQ(winner["verdict"], "beaten");
  EXPECT_NEAR(winner["behind_percent"], 11.1, 1.0);
  EXPECT_THAT(std::string(winner["fastest"]), testing::HasSubstr("(FP16, 128, 64, 64, 4)"));
}

TEST_F(VerifyWinner, ToleratesWhatItIsToldTo) {
  sweep_while_the_128_wide_tile_is_best();
  times_are({{"128, 64, 64, 4", 90.0}, {"128, 128, 64, 4", 100.0}, {"32, 4", 140.0}});
  expect_ok(verify({"--tolerance", "20"}));
}

TEST_F(VerifyWinner, FailsWhenTheWinnerCrashes) {
  sweep_while_the_128_wide_tile_is_best();
  times_are({{"128, 64, 64, 4", 120.0}, {"32, 4", 140.0}},
            {{{"at", "admit"}, {"label", "128, 128, 64, 4"}, {"do", "crash scripted"}}});
  const ProcessResult result = verify();
  EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::beaten)) << result.err;
  EXPECT_THAT(result.out, testing::HasSubstr("failed"));
  EXPECT_THAT(result.out, testing::HasSubstr("scripted"));
}

TEST_F(VerifyWinner, SaysThatTooFewSamplesDoNotTell) {
  sweep_while_the_128_wide_tile_is_best();
  times_are({{"128, 64, 64, 4", 93.0}, {"128, 128, 64, 4", 100.0}, {"32, 4", 140.0}});
  const ProcessResult result = verify({"--format", "json", "--budget", "0.001"});
  EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::undecided)) << result.err;
  const json winner = json::parse(result.out)["winners"][0];
  EXPECT_EQ(winner["verdict"], "undecided");
  EXPECT_THAT(std::string(winner["detail"]), testing::HasSubstr("may be chance"));
}

TEST_F(VerifyWinner, DoesNotConfirmTheFastestByTooFewSamples) {
  sweep_while_the_128_wide_tile_is_best();
  const ProcessResult result = verify({"--format", "json", "--budget", "0.001"});
  EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::undecided)) << result.err;
  EXPECT_EQ(json::parse(result.out)["winners"][0]["verdict"], "undecided");
}

TEST_F(VerifyWinner, ConfirmsNothingThatWasInterrupted) {
  sweep_while_the_128_wide_tile_is_best("128,256");
  json script = json::parse(process_.environment["FATUNE_FAKE_WORKER"]);
  script["slow_ms"] = 20;
  process_.environment["FATUNE_FAKE_WORKER"] = script.dump();
  process_.when_err_has = "[8/16]";
  process_.then = [](pid_t pid) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    ::kill(pid, SIGINT);
  };
  const ProcessResult result =
      fatune({"verify-winner", path("best.json"), "--no-db", "--format", "json"});
  EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::interrupted)) << result.err;
  expect_schema(result.out, "verify_winner");
  const json report = json::parse(result.out);
  EXPECT_FALSE(report["complete"]);
  EXPECT_EQ(report["winners"][0]["verdict"], "confirmed");
  EXPECT_EQ(report["winners"][1]["verdict"], "undecided");
}

TEST_F(VerifyWinner, ComparesWithTheTimesOfTheFile) {
  sweep_while_the_128_wide_tile_is_best();
  times_are({{"128, 64, 64, 4", 126.0}, {"128, 128, 64, 4", 105.0}, {"32, 4", 140.0}});
  const json winner = json::parse(verify({"--format", "json"}).out)["winners"][0];
  EXPECT_EQ(winner["verdict"], "confirmed");
  EXPECT_NEAR(winner["file_us"], 100.0, 1.0);
  EXPECT_NEAR(winner["since_file_percent"], 5.0, 1.0);
}

TEST_F(VerifyWinner, SaysThatTheFileIsFromAnotherGpuOrDriver) {
  process_.environment["FATUNE_LIBNVML"] = FATUNE_FAKE_NVML;
  sweep_while_the_128_wide_tile_is_best();
  json best = json::parse(read("best.json"));
  best["gpus"][0]["device"]["name"] = "NVIDIA Elsewhere";
  best["toolchain"]["driver"] = "7.5";
  write("best.json", best.dump());
  const ProcessResult result = fatune({"verify-winner", path("best.json"), "--no-db"});
  expect_ok(result);
  EXPECT_THAT(result.err, testing::HasSubstr("from another GPU model: NVIDIA Elsewhere"));
  EXPECT_THAT(result.err,
              testing::HasSubstr("from another driver: 7.5, and this one is 580.159.04"));
}

TEST_F(VerifyWinner, ReadsAnOlderFileThatHasTheCudaVersionInPlaceOfTheDriversRelease) {
  process_.environment["FATUNE_LIBNVML"] = FATUNE_FAKE_NVML;
  sweep_while_the_128_wide_tile_is_best();
  json best = json::parse(read("best.json"));
  best["toolchain"].erase("driver_cuda");
  best["toolchain"]["driver"] = "13.0";
  write("best.json", best.dump());
  const ProcessResult same = fatune({"verify-winner", path("best.json"), "--no-db"});
  expect_ok(same);
  EXPECT_THAT(same.err, testing::Not(testing::HasSubstr("from another driver")));
  best["toolchain"]["driver"] = "12.4";
  write("best.json", best.dump());
  EXPECT_THAT(fatune({"verify-winner", path("best.json"), "--no-db"}).err,
              testing::HasSubstr("from another driver: of CUDA 12.4, and this one is 13.0"));
}

TEST_F(VerifyWinner, TakesTheWinnersOfThisGpuModelFromAFileOfSeveral) {
  sweep_while_the_128_wide_tile_is_best();
  json best = json::parse(read("best.json"));
  json other = best["gpus"][0];
  other["device"]["name"] = "NVIDIA Elsewhere";
  other["problems"][0]["winner"]["config"] = other["problems"][0]["runners_up"][0]["config"];
  best["gpus"] = json::array({other, best["gpus"][0]});
  write("best.json", best.dump());
  const ProcessResult result = verify({"--format", "json"});
  expect_ok(result);
  EXPECT_THAT(std::string(json::parse(result.out)["winners"][0]["winner"]),
              testing::HasSubstr("128, 128, 64, 4"));
}

TEST_F(VerifyWinner, NeedsAFileOfASweep) {
  write("best.json", R"({"format": "something else"})");
  expect_error(verify(), ExitCode::bad_file, {"best.json"});
  write("best.json", "no JSON");
  expect_error(verify(), ExitCode::bad_file, {"best.json"});
}

TEST_F(VerifyWinner, OffersTheWinnersOfTheNearestGpu) {
  process_.environment["FATUNE_FAKE_NAME"] = "NVIDIA H100 Nowhere";
  expect_error(fatune({"verify-winner", "--no-db"}), ExitCode::usage,
               {"no winners for NVIDIA H100 Nowhere", "NVIDIA H100 80GB HBM3",
                "fatune verify-winner nvidia-h100-80gb-hbm3"});
}

TEST_F(VerifyWinner, TakesTheWinnersThatAreShippedForANamedGpu) {
  // It has been read once a winner turns out to be of another family than the one that is named.
  expect_error(fatune({"verify-winner", "h200", "--no-db", "--family", "flash_sm80"}),
               ExitCode::usage, {"ws_pp"});
  expect_error(fatune({"verify-winner", "h300", "--no-db"}), ExitCode::bad_file, {"h300"});
}

TEST_F(VerifyWinner, NeedsAGpu) {
  sweep_while_the_128_wide_tile_is_best();
  expect_error(verify({"--device", "none"}), ExitCode::no_gpu, {"a GPU is required"});
}

}  // namespace
}  // namespace fatune::testing_cli
